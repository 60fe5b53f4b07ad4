"""What a sandbox needs: ``folders`` that the kernel sees, its ``interpreter``,
``limits`` and control ``groups``, the ``place`` of its sockets and the ``seccomp`` filter.
``trees`` reaches files without a link, for the server, too; ``open_folders`` remembers where
sandboxed kernels may write
"""
