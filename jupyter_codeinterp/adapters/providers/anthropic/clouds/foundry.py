"""The SDK's client for Microsoft Foundry: a resource's Messages API, with the resource's key."""

from __future__ import annotations

from typing import Any

import anthropic

from .connection import CloudConnection


class FoundryConnection(CloudConnection):
    def client_with(self, **options: Any) -> Any:
        return anthropic.AsyncAnthropicFoundry(
            api_key=self.server.secret or "", base_url=self.server.base_url, **options
        )
