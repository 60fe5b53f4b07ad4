"""Files that sandboxed kernels leave behind (Linux only)."""
