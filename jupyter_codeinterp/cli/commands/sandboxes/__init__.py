"""What sandboxed kernels leave behind."""
