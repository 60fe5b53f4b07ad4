"""The SDK's client for Google Vertex AI.

google-auth finds Google's credentials, wherever they are (a person's, a service account's, those of
a machine), and makes tokens of them that are good for an hour. All of that waits, so it happens
in worker threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anthropic
import google.auth
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

from ....model_http.faults import Fault
from .connection import CloudConnection
from .table import vertex_parts

SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class VertexConnection(CloudConnection):
    foreign = (GoogleAuthError,)

    def client_with(self, **options: Any) -> Any:
        server = self.server
        base, project, region = vertex_parts(server.base_url, self.environment)
        self._credentials: Any = None
        found = None
        if server.secret is None:
            self._credentials, found = google.auth.default(scopes=[SCOPE])
        project = project or found or ""
        if not project:
            raise Fault("bad_request", f"{server.place} has no project. {server.cloud.unsaid}")
        return anthropic.AsyncAnthropicVertex(
            region=region,
            project_id=project,
            access_token=server.secret,
            credentials=self._credentials,
            base_url=base,
            **options,
        )

    def at_work(self) -> Iterable[str]:
        token = getattr(self._credentials, "token", None)
        return [token] if isinstance(token, str) and token else []

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, DefaultCredentialsError):
            return self.nobody()
        if isinstance(error, GoogleAuthError):
            return self.stale(f"the library of Google says, {str(error)[:200].rstrip('.')}")
        return super().other_fault(error, model)
