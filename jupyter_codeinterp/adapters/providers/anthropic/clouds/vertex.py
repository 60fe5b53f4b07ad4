"""The SDK's client for Google Vertex AI.

google-auth finds Google's credentials (a person's, a service account's, a machine's) and makes
tokens of them, valid for an hour. All of that blocks, so it runs in worker threads.
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
    library_errors = (GoogleAuthError,)

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

    def current_secrets(self) -> Iterable[str]:
        token = getattr(self._credentials, "token", None)
        return [token] if isinstance(token, str) and token else []

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, DefaultCredentialsError):
            return self.no_credentials()
        if isinstance(error, GoogleAuthError):
            return self.expired(f"the Google library reports, {str(error)[:200].rstrip('.')}")
        return super().other_fault(error, model)
