"""What sandboxed kernels leave behind: files that wait, and packages that stay."""
