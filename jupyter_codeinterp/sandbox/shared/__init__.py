"""What a sandbox needs: ``folders`` that the kernel sees, its ``interpreter``,
``limits`` and control ``groups``, the ``place`` of its sockets, the ``seccomp`` filter, a
``descriptor`` for data, and ``watching`` the notebook's folder
"""
