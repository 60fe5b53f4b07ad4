"""The allow list of a sandboxed kernel: a proxy outside of the sandbox, and the way to it.

``gate`` what the provisioner starts ← ``proxy`` the process ← ``rules`` on hosts and addresses;
``first`` runs in the sandbox, before the kernel
"""
