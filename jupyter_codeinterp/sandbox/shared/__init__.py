"""Parts of a sandbox: ``folders`` that the kernel sees, its ``interpreter``,
``limits`` and control ``groups``, the ``place`` of its sockets and the ``seccomp`` filter.
``trees`` opens files without following links, also for the server; ``open_folders`` remembers where
sandboxed kernels may write
"""
