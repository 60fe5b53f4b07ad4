"""Kernels of a gateway, such as Kernel Gateway and Enterprise Gateway.

``process`` the kernel as the server's manager reaches it ← ``wire`` its WebSocket and messages
"""

from .process import GatewayProcess

__all__ = ["GatewayProcess"]
