"""The anthropic SDK's clients for Amazon Bedrock, Google Vertex AI and Microsoft Foundry.

boto3 finds AWS's credentials and signs; google-auth finds Google's and makes tokens of them, valid
for an hour. All of that blocks, so it runs in worker threads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import anthropic
import msgspec
from anthropic.lib.aws import _auth

from ...base.sentences import Sentence, together
from ...wire.ports import ModelInfo
from ..http.answer import mapping, string
from ..http.faults import ApiRefusal, Fault, no_key, no_model_server
from ..http.listing import ListedModel
from ..http.service import no_place
from .clouds import aws_region, vertex_place
from .messages import MessagesModel, omitted_headers

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_ANSWERED = (400, 404, 422, 429)
"""Statuses with which a cloud answers a request without a question, or for a model that the account
lacks."""
_BAD_CREDENTIALS = (
    "ExpiredTokenException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
)
"""AWS's errors with status 403 that are about the credentials."""


class CloudModel(MessagesModel):
    """A cloud's SDK client, with an entered key or with credentials that its library finds.

    The clouds have no list of models. A request without a question costs nothing and tests
    credentials and place.
    """

    credential_errors: tuple[type[Exception], ...] = ()
    """Errors of a cloud's library for missing or expired credentials."""

    def make_client(self) -> Any:
        self._learnt: set[str] = set()
        self._credentials: Any = None
        if not (self.server.secret or self.server.service.sign_in):
            raise no_key(self.server)
        if not (self.server.secret or self.server.signs_in):
            raise self.credentials_fault("without a key, nothing is sent there")
        return self.client_with(default_headers=omitted_headers(), **self.client_options)

    # --- for each cloud to override --------------------------------------------------------

    def client_with(self, **options: Any) -> Any:
        """Make the SDK's client, in a worker thread. Raises Fault or ``library_errors``."""
        raise NotImplementedError

    def current_secrets(self) -> Iterable[str]:
        """The current secrets of the cloud's own credentials."""
        return ()

    # --- requests ------------------------------------------------------------------------

    async def _post(self, body: dict[str, Any]) -> Any:
        """The SDK derives the request's address from its body, so it gets an object."""
        try:
            return await self._client.post(
                self.answers_path,
                body={**msgspec.to_builtins(body), "stream": True},
                cast_to=object,
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
        finally:
            self.learn_secrets()

    def learn_secrets(self) -> None:
        for secret in self.current_secrets():
            if secret not in self._learnt:
                self._learnt.add(secret)
                self.settings.learn(secret)

    async def listed(self) -> tuple[ModelInfo, ...]:
        """The table's models, if place and credentials are right."""
        names = self.server.service.models
        with self.faults(names[0]):
            try:
                stream = await self._post({"model": names[0], "max_tokens": 1, "messages": []})
                await stream.close()
                raise no_model_server(self.server)
            except anthropic.APIStatusError as error:
                if self.refusal(error).status not in _ANSWERED:
                    raise
        return tuple(self.info_of(ListedModel(name)) for name in names)

    async def look_up(self, model: str) -> ModelInfo:
        return self.info_of(ListedModel(model))

    # --- faults --------------------------------------------------------------------------

    def refusal(self, error: Exception) -> ApiRefusal:
        """Handles Anthropic's errors, which pass through, and the cloud's own."""
        assert isinstance(error, anthropic.APIStatusError)
        found = super().refusal(error)
        body = error.body[0] if isinstance(error.body, list) and error.body else error.body
        message = string(mapping(body, "error") or body, "message")  # Google's is in a list
        for secret in self.current_secrets():
            message = message.replace(secret, "[key]")
        status = found.status
        if found.headers.get("x-amzn-errortype", "").partition(":")[0] in _BAD_CREDENTIALS:
            status = 401
        elif "model identifier is invalid" in message:
            status = 404
        return msgspec.structs.replace(found, status=status, message=message)

    def status_fault(self, error: Exception, model: str) -> Fault:
        refusal = self.refusal(error)
        if refusal.status != 401 or self.server.secret:
            return super().status_fault(error, model)
        # The SDK caches a session forever, with the contents of files at that time.
        with suppress(AttributeError):
            session: Any = _auth._get_session
            session.cache_clear()
        return self.credentials_fault(str(refusal.message))

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, self.credential_errors):
            return self.credentials_fault(str(error)[:200])
        return super().other_fault(error, model)

    def credentials_fault(self, why: str) -> Fault:
        """The Fault for missing or rejected credentials of the machine."""
        words = Sentence(
            "{place} needs valid credentials: {why}.", place=self.server.place, why=why.rstrip(".")
        )
        return Fault("no_key", together(words, self.server.service.sign_in))


class BedrockModel(CloudModel):
    """Signed requests, and answers as AWS's event stream."""

    def client_with(self, **options: Any) -> Any:
        import boto3
        from botocore.eventstream import ParserError
        from botocore.exceptions import BotoCoreError

        # Its debug log has signed headers with session tokens, and whole answers of credential
        # services.
        logging.getLogger("botocore").setLevel(logging.INFO)
        self.credential_errors = (BotoCoreError,)
        self.library_errors = (BotoCoreError, ParserError)
        server = self.server
        region = aws_region()
        if server.secret is None:
            self._credentials = boto3.Session(region_name=region or None).get_credentials()
            if self._credentials is None:
                raise self.credentials_fault("none were found on this machine")
            self.learn_secrets()
        client = anthropic.AsyncAnthropicBedrock(
            api_key=server.secret, aws_region=region or None, base_url=server.base_url, **options
        )
        # Never the environment's key, which belongs to another address.
        client.api_key = server.secret
        return client

    def current_secrets(self) -> Iterable[str]:
        """Read the session's private fields: its getters may renew credentials, and block."""
        found = self._credentials
        names = ("_secret_key", "_token", "secret_key", "token")
        held = vars(found) if found is not None else {}
        return [held[name] for name in names if isinstance(held.get(name), str) and held[name]]


class VertexModel(CloudModel):
    def client_with(self, **options: Any) -> Any:
        import google.auth
        from google.auth.exceptions import GoogleAuthError

        self.credential_errors = self.library_errors = (GoogleAuthError,)
        server = self.server
        project, region = vertex_place()
        if not project:
            raise no_place(server.service)
        if server.secret is None:
            self._credentials, _ = google.auth.default(scopes=[SCOPE])
        return anthropic.AsyncAnthropicVertex(
            region=region,
            project_id=project,
            access_token=server.secret,
            credentials=self._credentials,
            base_url=server.base_url,
            **options,
        )

    def current_secrets(self) -> Iterable[str]:
        token = getattr(self._credentials, "token", None)
        return [token] if isinstance(token, str) and token else []


class FoundryModel(CloudModel):
    """A resource's Messages API, with the resource's key."""

    def client_with(self, **options: Any) -> Any:
        return anthropic.AsyncAnthropicFoundry(
            api_key=self.server.secret or "", base_url=self.server.base_url, **options
        )
