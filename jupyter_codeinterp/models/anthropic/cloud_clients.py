"""The anthropic SDK's clients for clouds: whose credentials they use, requests, error messages.

They derive the request's address from its body, so they get the body as an object. The clouds
have no list of models. A request without a question costs nothing and tests credentials and
place.

boto3 finds AWS's credentials (variables, profiles, single sign-on, a machine's role), renews
them and signs. google-auth finds Google's (a person's, a service account's, a machine's) and makes
tokens of them, valid for an hour. All of that blocks, so it runs in worker threads.
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
from ..http.faults import ApiRefusal, Fault, no_key, no_model_server, status_of
from ..http.listing import ListedModel
from .messages import MessagesConnection, omitted_headers

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_ANSWERED = (400, 404, 422, 429)
"""Statuses with which a cloud answers a request without a question, or for a model that the account
lacks."""

_KINDS = {
    # docs.aws.amazon.com, bedrock-runtime InvokeModelWithResponseStream, and common errors
    "throttlingexception": "rate_limit_error",
    "servicequotaexceededexception": "rate_limit_error",
    "serviceunavailableexception": "overloaded_error",
    "modelnotreadyexception": "overloaded_error",
    "internalserverexception": "api_error",
    "modelerrorexception": "api_error",
    "modelstreamerrorexception": "api_error",
    "modeltimeoutexception": "timeout_error",
    "validationexception": "invalid_request_error",
    "accessdeniedexception": "permission_error",
    "resourcenotfoundexception": "not_found_error",
    "expiredtokenexception": "authentication_error",
    "unrecognizedclientexception": "authentication_error",
    "invalidsignatureexception": "authentication_error",
    "missingauthenticationtokenexception": "authentication_error",
    # cloud.google.com/apis/design/errors
    "unauthenticated": "authentication_error",
    "permission_denied": "permission_error",
    "resource_exhausted": "rate_limit_error",
    "not_found": "not_found_error",
    "invalid_argument": "invalid_request_error",
    "unavailable": "overloaded_error",
    "internal": "api_error",
    "deadline_exceeded": "timeout_error",
    # learn.microsoft.com, Foundry models
    "deploymentnotfound": "not_found_error",
}
"""Anthropic's error types for the clouds' names."""
_WORDS = {
    "model identifier is invalid": "model_not_found",
    "input is too long": "context_length_exceeded",
}
"""Error types by words of the message, where the clouds send no type."""


class CloudConnection(MessagesConnection):
    """``options.environment`` holds the SDK's variables; those for other addresses are hidden from
    the SDK."""

    missing: tuple[type[Exception], ...] = ()
    """Errors of a cloud's library that found no credentials."""
    rejections: dict[type[Exception], str] = {}
    """Errors of a cloud's library for expired ones, and the library's name."""

    def make_client(self) -> Any:
        self._learnt: set[str] = set()
        self._credentials: Any = None
        if not (self.server.secret or self.server.signs_in):
            raise self.no_credentials()
        return self.client_with(default_headers=omitted_headers(), **self.client_options)

    # --- for each cloud to override --------------------------------------------------------

    def client_with(self, **options: Any) -> Any:
        """Make the SDK's client, in a worker thread. Raises Fault or ``library_errors``."""
        raise NotImplementedError

    def current_secrets(self) -> Iterable[str]:
        """The current secrets of the cloud's own credentials."""
        return ()

    def forget(self) -> None:
        """Drop expired credentials that the libraries cached."""

    # --- requests ------------------------------------------------------------------------

    async def _post(self, body: dict[str, Any]) -> Any:
        try:
            return await self._client.post(
                self.answers_path,
                body={**msgspec.to_builtins(body), "stream": True},
                cast_to=object,
                stream=True,
                stream_cls=self.stream_class,
            )
        finally:
            self.learn_secrets()

    def learn_secrets(self) -> None:
        for secret in self.current_secrets():
            if secret not in self._learnt:
                self._learnt.add(secret)
                self.options.learn(secret)

    async def models(self) -> tuple[ModelInfo, ...]:
        """The table's models, if place and credentials are right."""
        names = self.server.service.models
        with self.faults(names[0]):
            try:
                stream = await self._post({"model": names[0], "max_tokens": 1, "messages": []})
            except self.errors.status as error:
                if self.refusal(error).status not in _ANSWERED:
                    raise
                if not _error_object(error):
                    raise no_model_server(self.server) from None
            else:
                await stream.close()
                raise no_model_server(self.server)
        return tuple(self.info_of(ListedModel(name)) for name in names)

    async def info(self, model: str) -> ModelInfo:
        return self.info_of(ListedModel(model))

    # --- faults --------------------------------------------------------------------------

    def refusal(self, error: Exception) -> ApiRefusal:
        """Handles Anthropic's errors, which pass through, and the cloud's own."""
        assert isinstance(error, anthropic.APIStatusError)
        outer = _error_object(error)
        inner = mapping(outer, "error") or outer
        message = string(inner, "message") or string(inner, "Message")
        for secret in self.current_secrets():
            message = message.replace(secret, "[key]")
        header = error.response.headers.get("x-amzn-errortype", "").partition(":")[0]
        named = [header, *(string(inner, name) for name in ("type", "code", "status"))]
        given = {name.lower() for name in named if name}
        known = {_KINDS[name] for name in given & _KINDS.keys()}
        by_words = {kind for words, kind in _WORDS.items() if words in message.lower()}
        kinds = frozenset(given | known | by_words)
        if known or error.status_code == 200:
            status = status_of(frozenset(known) or kinds)
        else:
            status = error.status_code
        return ApiRefusal(status, message, kinds, headers=error.response.headers)

    def status_fault(self, error: Exception, model: str) -> Fault:
        refusal = self.refusal(error)
        if refusal.status != 401 or self.server.secret:
            return super().status_fault(error, model)
        self.forget()
        expired = "expired" in f"{refusal.message} {refusal.kinds}".lower()
        return self.expired("they have expired" if expired else "they are not valid for it")

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, self.missing):
            return self.no_credentials()
        for kind, library in self.rejections.items():
            if isinstance(error, kind):
                self.forget()
                return self.expired(f"{library} reports, {str(error)[:200].rstrip('.')}")
        return super().other_fault(error, model)

    def expired(self, why: str) -> Fault:
        """The Fault for expired credentials of the cloud."""
        words = Sentence(
            "{place} rejected the credentials on this machine: {why}.",
            place=self.server.place,
            why=why,
        )
        return Fault(
            "wrong_key",
            together(words, self.server.service.renew),
        )

    def no_credentials(self) -> Fault:
        """The Fault for missing credentials, or none allowed for this address."""
        cloud = self.server.service
        if not cloud.sign_in:
            return no_key(self.server)
        if not self.server.signs_in:
            words = Sentence("{place} is not an address of that cloud", place=self.server.place)
            return Fault(
                "no_key", Sentence("{words}. Without a key, nothing is sent there.", words=words)
            )
        words = Sentence(
            "{place} needs credentials. None were found on this machine.", place=self.server.place
        )
        return Fault("no_key", together(words, cloud.sign_in))


def _error_object(error: Exception) -> dict[str, Any]:
    """The JSON object of an error; Google may send it in a list."""
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:
        body = body[0]
    return body if isinstance(body, dict) else {}


class BedrockConnection(CloudConnection):
    """Signed requests, and answers as AWS's event stream."""

    def client_with(self, **options: Any) -> Any:
        import boto3
        from botocore.eventstream import ParserError
        from botocore.exceptions import BotoCoreError

        # Its debug log has signed headers with session tokens, and whole answers of credential
        # services.
        logging.getLogger("botocore").setLevel(logging.INFO)
        self.library_errors = (BotoCoreError, ParserError)
        self.rejections = {BotoCoreError: "the AWS library"}
        server = self.server
        (region,) = server.service.parts(server.base_url, self.options.environment)
        if server.secret is None:
            session = boto3.Session(region_name=region or None)
            region = region or session.region_name or ""
            self._credentials = session.get_credentials()
            if self._credentials is None:
                raise self.no_credentials()
            self.learn_secrets()
        if not region:
            raise Fault(
                "bad_request",
                Sentence(
                    "{place} has no region. {unsaid}",
                    place=server.place,
                    unsaid=server.service.unsaid,
                ),
            )
        client = anthropic.AsyncAnthropicBedrock(
            api_key=server.secret, aws_region=region, base_url=server.base_url, **options
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

    def forget(self) -> None:
        """The SDK caches a session forever, with the contents of files at that time."""
        with suppress(AttributeError):
            session: Any = _auth._get_session
            session.cache_clear()


class VertexConnection(CloudConnection):
    def client_with(self, **options: Any) -> Any:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

        self.library_errors = (GoogleAuthError,)
        self.missing = (DefaultCredentialsError,)
        self.rejections = {GoogleAuthError: "the Google library"}
        server = self.server
        base, project, region = server.service.parts(server.base_url, self.options.environment)
        found = None
        if server.secret is None:
            self._credentials, found = google.auth.default(scopes=[SCOPE])
        project = project or found or ""
        if not project:
            raise Fault(
                "bad_request",
                Sentence(
                    "{place} has no project. {unsaid}",
                    place=server.place,
                    unsaid=server.service.unsaid,
                ),
            )
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


class FoundryConnection(CloudConnection):
    """A resource's Messages API, with the resource's key."""

    def client_with(self, **options: Any) -> Any:
        return anthropic.AsyncAnthropicFoundry(
            api_key=self.server.secret or "", base_url=self.server.base_url, **options
        )


CONNECTIONS: dict[str, type[CloudConnection]] = {
    "bedrock": BedrockConnection,
    "vertex": VertexConnection,
    "foundry": FoundryConnection,
}
