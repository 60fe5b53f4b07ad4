"""The common part of the SDK's cloud clients: requests, models, error messages.

The clients derive the request's address from its body, so they get the body as an object. The
clouds have no list of models. A request without a question costs nothing and tests credentials
and place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anthropic
import httpx2
import msgspec

from .....core.ports import ModelInfo
from ....model_http.events import mapping, string
from ....model_http.faults import Fault, Refusal, no_key, no_model_server, status_of
from ....model_http.listing import Entry
from ..connection import Connection, omitted_headers
from ..wire import Profile, known_info
from .table import CloudCredentials, plain_name

_ANSWERED = (400, 404, 422, 429)
"""Statuses for a request without a question, or for a model that the account lacks."""

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


class CloudConnection(Connection):
    """``environment`` holds the SDK's variables; those for other addresses are hidden from the
    SDK. ``learn`` as of CloudModel."""

    server: CloudCredentials

    def __init__(
        self,
        credentials: CloudCredentials,
        http: httpx2.AsyncClient,
        profile: Profile,
        max_tokens: int,
        effort: str | None,
        stall: float | None,
        environment: Mapping[str, str],
        learn: Callable[[str], None],
    ) -> None:
        self.environment = environment
        self._learn = learn
        self._learnt: set[str] = set()
        super().__init__(credentials, http, profile, max_tokens, effort, stall)

    def _client_with(self, **options: Any) -> Any:
        if not (self.server.secret or self.server.its_own):
            raise self.no_credentials()
        return self.client_with(default_headers=omitted_headers(), **options)

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
                self._learn(secret)

    async def models(self) -> tuple[ModelInfo, ...]:
        """The table's models, if place and credentials are right."""
        names = self.server.cloud.models
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
        return tuple(self.info_of(Entry(name)) for name in names)

    async def info(self, model: str) -> ModelInfo:
        return self.info_of(Entry(model))

    def info_of(self, listed: Entry) -> ModelInfo:
        known = known_info(plain_name(listed.id))
        return ModelInfo(listed.id, known.name, known.context_window)

    # --- faults --------------------------------------------------------------------------

    def refusal(self, error: Exception) -> Refusal:
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
        return Refusal(status, message, kinds, headers=error.response.headers)

    def status_fault(self, error: Exception, model: str) -> Fault:
        refusal = self.refusal(error)
        if refusal.status != 401 or self.server.secret:
            return super().status_fault(error, model)
        self.forget()
        expired = "expired" in f"{refusal.message} {refusal.kinds}".lower()
        return self.expired("they have expired" if expired else "they are not valid for it")

    def expired(self, why: str) -> Fault:
        """The Fault for expired credentials of the cloud."""
        words = f"{self.server.place} rejected the credentials on this machine: {why}."
        return Fault("wrong_key", f"{words} Run {self.server.cloud.renew}, then try again.")

    def no_credentials(self) -> Fault:
        """The Fault for missing credentials, or none allowed for this address."""
        cloud = self.server.cloud
        if not cloud.sign_in:
            return no_key(self.server)
        if not self.server.its_own:
            words = f"{self.server.place} is not an address of that cloud"
            return Fault("no_key", f"{words}. Without a key, nothing is sent there.")
        words = f"{self.server.place} needs credentials. None were found on this machine."
        return Fault("no_key", f"{words} Run {cloud.sign_in}.")


def _error_object(error: Exception) -> dict[str, Any]:
    """The JSON object of an error; Google may send it in a list."""
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:
        body = body[0]
    return body if isinstance(body, dict) else {}


# -------------------------------------------------------------------------------------------------
# The SDK's client for Microsoft Foundry: a resource's Messages API, with the resource's key.


class FoundryConnection(CloudConnection):
    def client_with(self, **options: Any) -> Any:
        return anthropic.AsyncAnthropicFoundry(
            api_key=self.server.secret or "", base_url=self.server.base_url, **options
        )
