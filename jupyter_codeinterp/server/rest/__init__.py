"""REST: the same service as the windows' socket, for programs; what is configured; windows."""
