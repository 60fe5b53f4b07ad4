"""The allow list of a sandboxed kernel: a proxy outside of the sandbox, and the way to it.

``gate`` what the provisioner starts ← ``proxy`` the process ← ``heads`` of HTTP requests,
``rules`` on hosts and addresses, ``credentials``; ``pypi`` names the hosts of an index;
``first`` runs in the sandbox, before the kernel
"""
