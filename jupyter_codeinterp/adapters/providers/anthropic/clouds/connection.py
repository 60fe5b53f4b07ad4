"""What the SDK's clients for clouds have in common: requests, models, words for faults.

They make the request's address of its body, so the body goes to them as an object. None has a
list of models: a request without a question shows whether credentials and place are right, and
costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anthropic
import httpx2
import msgspec

from .....core.ports import ModelInfo
from ....model_http.faults import Fault, Refusal, no_key, no_model_server, status_of
from ....model_http.listing import Entry
from ....model_http.reading import mapping, string
from ..connection import Connection, custom_header_names
from ..profile import Profile, known_info
from .credentials import CloudCredentials
from .table import plain_name

_ANSWERED = (400, 404, 422, 429)
"""What a service says of a request without a question, or of a model that an account has not."""

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
"""What the clouds call what Anthropic's API has a type for."""
_WORDS = {
    "model identifier is invalid": "model_not_found",
    "input is too long": "context_length_exceeded",
}
"""What they say only so."""


class CloudConnection(Connection):
    """``environment`` is where the SDK looks, too; what of it belongs to other addresses is kept
    from them. ``learn`` as of CloudModel."""

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
            raise self.nobody()
        headers = {name: anthropic.Omit() for name in custom_header_names()}
        return self.client_with(default_headers=headers, **options)

    # --- to be said by each cloud --------------------------------------------------------

    def client_with(self, **options: Any) -> Any:
        """The SDK's client. In a worker thread. Raises Fault, or an error of ``foreign``."""
        raise NotImplementedError

    def at_work(self) -> Iterable[str]:
        """The secrets of the cloud's own credentials, as they are now."""
        return ()

    def forget(self) -> None:
        """What the libraries remember of credentials that are good no more."""

    # --- requests ------------------------------------------------------------------------

    async def _post(self, body: dict[str, Any]) -> anthropic.AsyncStream[object]:
        try:
            return await self._client.post(  # type: ignore[no-any-return]
                self.answers_path,
                body={**msgspec.to_builtins(body), "stream": True},
                cast_to=object,
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
        finally:
            self.learn_at_work()

    def learn_at_work(self) -> None:
        for secret in self.at_work():
            if secret not in self._learnt:
                self._learnt.add(secret)
                self._learn(secret)

    async def models(self) -> tuple[ModelInfo, ...]:
        """Those of the table, if the place and the credentials are right."""
        names = self.server.cloud.models
        with self.faults(names[0]):
            try:
                stream = await self._post({"model": names[0], "max_tokens": 1, "messages": []})
            except self.errors.status as error:
                if self.refusal(error).status not in _ANSWERED:
                    raise
                if not _said_by(error):
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
        """Of Anthropic's errors, which come through, and of the cloud's own."""
        assert isinstance(error, anthropic.APIStatusError)
        outer = _said_by(error)
        inner = mapping(outer, "error") or outer
        said = next(filter(None, (string(inner, name) for name in ("message", "Message"))), "")
        for secret in self.at_work():
            said = said.replace(secret, "[key]")
        header = error.response.headers.get("x-amzn-errortype", "").partition(":")[0]
        named = [header, *(string(inner, name) for name in ("type", "code", "status"))]
        theirs = {name.lower() for name in named if name}
        ours = {_KINDS[name] for name in theirs & _KINDS.keys()}
        words = {kind for words, kind in _WORDS.items() if words in said.lower()}
        kinds = frozenset(theirs | ours | words)
        if ours or error.status_code == 200:
            status = status_of(frozenset(ours) or kinds)
        else:
            status = error.status_code
        return Refusal(status, said, kinds, headers=error.response.headers)

    def status_fault(self, error: Exception, model: str) -> Fault:
        refusal = self.refusal(error)
        if refusal.status != 401 or self.server.secret:
            return super().status_fault(error, model)
        self.forget()
        expired = "expired" in f"{refusal.message} {refusal.kinds}".lower()
        return self.stale("they have expired" if expired else "they are not valid there")

    def stale(self, why: str) -> Fault:
        """The cloud's own credentials are no good."""
        words = f"{self.server.place} does not accept the credentials found on this machine: {why}."
        return Fault("wrong_key", f"{words} Run {self.server.cloud.renew}, then try again.")

    def nobody(self) -> Fault:
        """There are no credentials, or none that may go to this address."""
        cloud = self.server.cloud
        if not cloud.sign_in:
            return no_key(self.server)
        if not self.server.its_own:
            words = f"{self.server.place} is no address of that cloud"
            return Fault("no_key", f"{words}: without a key nothing is sent there.")
        words = f"{self.server.place} wants credentials, and none were found on this machine."
        return Fault("no_key", f"{words} Run {cloud.sign_in}.")


def _said_by(error: Exception) -> dict[str, Any]:
    """The object that an error's answer is; Google's may come in a list."""
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:
        body = body[0]
    return body if isinstance(body, dict) else {}
