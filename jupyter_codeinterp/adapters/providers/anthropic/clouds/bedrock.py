"""The SDK's client for Amazon Bedrock: signed requests, answers as AWS's event stream.

boto3 finds AWS's credentials (variables, profiles, single sign-on, a machine's role), renews
them and signs. All of that blocks, so it runs in worker threads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import anthropic
import boto3
from anthropic.lib.aws import _auth
from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError

from ....model_http.faults import Fault
from .connection import CloudConnection
from .table import aws_region

# Its debug log has signed headers with session tokens, and whole answers of credential services.
logging.getLogger("botocore").setLevel(logging.INFO)


class BedrockConnection(CloudConnection):
    library_errors = (BotoCoreError, ParserError)

    def client_with(self, **options: Any) -> Any:
        server = self.server
        self._credentials: Any = None
        region = aws_region(server.base_url, self.environment)
        if server.secret is None:
            session = boto3.Session(region_name=region or None)
            region = region or session.region_name or ""
            self._credentials = session.get_credentials()
            if self._credentials is None:
                raise self.no_credentials()
            self.learn_secrets()
        if not region:
            raise Fault("bad_request", f"{server.place} has no region. {server.cloud.unsaid}")
        client = anthropic.AsyncAnthropicBedrock(
            api_key=server.secret, aws_region=region, base_url=server.base_url, **options
        )
        client.api_key = server.secret  # never the environment's, which belongs to another address
        return client

    def current_secrets(self) -> Iterable[str]:
        """Read the session's private fields: its getters may renew credentials, and block."""
        found = self._credentials
        names = ("_secret_key", "_token", "secret_key", "token")
        held = vars(found) if found is not None else {}
        return [held[name] for name in names if isinstance(held.get(name), str) and held[name]]

    def forget(self) -> None:
        """The SDK caches a session forever, with the contents of files at that time."""
        with suppress(AttributeError):
            session: Any = _auth._get_session
            session.cache_clear()

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, BotoCoreError):
            self.forget()
            return self.expired(f"the AWS library reports, {str(error)[:200].rstrip('.')}")
        return super().other_fault(error, model)
