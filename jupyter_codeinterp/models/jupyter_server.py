"""The models of a Jupyter server, for ``%%ai`` in its kernels: requests, and the events of answers.

A request is a ModelRequest as JSON. The answer has one event a line, so that the server's own
adapter alone speaks to the model's API. The server counts and limits these calls.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import quote

import msgspec

from ..base.errors import ModelError
from ..base.sentences import Sentence, as_it_is, in_english
from ..wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRead, ModelRequest, ModelRetry

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT = 10.0
SILENCE = 900.0
"""Seconds without a byte. The server itself notices a silent model sooner."""
MOST_TOKENS = 100_000
"""Of one answer: more than an admin will set."""
OTHER_VERSION = (
    "The Jupyter server does not understand this request. Install the same version of "
    "jupyter_codeinterp in the environments of server and kernel."
)


class Failure(msgspec.Struct, frozen=True, tag=True):
    """A ModelError: the body of a refusal, or the last line of an answer."""

    code: str
    message: str
    retry_after: Union[float, None] = None

    @classmethod
    def of(cls, error: ModelError) -> Failure:
        return cls(error.code, error.message, error.retry_after)


class ModelList(msgspec.Struct, frozen=True):
    models: tuple[ModelInfo, ...]


_lines: msgspec.json.Decoder[Union[ModelEvent, Failure]]
_lines = msgspec.json.Decoder(Union[ModelEvent, Failure])


def line_of(event: ModelEvent | Failure) -> bytes:
    return msgspec.json.encode(event, enc_hook=in_english) + b"\n"


def event_of(line: bytes | str) -> ModelEvent:
    """Read a line. Raises ModelError for a failure's."""
    read = _lines.decode(line)
    if isinstance(read, Failure):
        raise _model_error(read)
    return read


def _model_error(failure: Failure) -> ModelError:
    return ModelError(failure.code, as_it_is(failure.message), failure.retry_after)


class JupyterServerModel:
    """Implements ``Connection``. ``url`` is the server's model endpoint."""

    always_ask = False

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self._client: httpx2.AsyncClient | None = None
        self._infos: dict[str, ModelInfo] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        import httpx2

        from .http.answer import Unbounded
        from .http.bounded import BoundedBody

        begun = False
        body = msgspec.json.encode(request, enc_hook=in_english)
        try:
            async with self._http().stream("POST", f"{self._url}/ask", content=body) as response:
                if response.status_code != 200:
                    raise _refused(await response.aread())
                bounded = response.stream
                assert isinstance(bounded, BoundedBody)
                bounded.expect_stream(MOST_TOKENS)
                async for line in response.aiter_lines():
                    event = event_of(line)
                    begun = begun or not isinstance(event, (ModelRead, ModelRetry))
                    bounded.note_progress()
                    yield event
                    if isinstance(event, ModelDone):
                        return
            raise ModelError("broken_stream", "The Jupyter server ended the answer early.")
        except (httpx2.HTTPError, Unbounded) as error:
            raise _unreachable(error, begun) from None
        except (msgspec.MsgspecError, LookupError, TypeError):
            raise ModelError("server_error", OTHER_VERSION) from None

    async def info(self, model: str) -> ModelInfo:
        """The server's information, asked once. Never raises: a request will say what is wrong."""
        if model not in self._infos:
            try:
                found: ModelInfo = await self._get(f"models/{quote(model, safe='')}", ModelInfo)
            except ModelError:
                return ModelInfo(model, model)
            self._infos[model] = found
        return self._infos[model]

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Raises ModelError."""
        listed: ModelList = await self._get("models", ModelList)
        return listed.models

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _get(self, path: str, kind: Any) -> Any:
        import httpx2

        from .http.answer import Unbounded

        try:
            response = await self._http().get(f"{self._url}/{path}")
        except (httpx2.HTTPError, Unbounded) as error:
            raise _unreachable(error, False) from None
        if response.status_code != 200:
            raise _refused(response.content)
        try:
            return msgspec.json.decode(response.content, type=kind)
        except (ValueError, RecursionError):
            raise ModelError("server_error", OTHER_VERSION) from None

    def _http(self) -> httpx2.AsyncClient:
        import httpx2

        from .http.model import CLIENT_OPTIONS

        if self._client is None:
            headers = {**CLIENT_OPTIONS["headers"], "Authorization": f"Bearer {self._token}"}
            timeout = httpx2.Timeout(SILENCE, connect=CONNECT_TIMEOUT)
            options = {**CLIENT_OPTIONS, "headers": headers, "timeout": timeout}
            self._client = httpx2.AsyncClient(**options)
        return self._client


def _refused(body: bytes) -> ModelError:
    try:
        return _model_error(msgspec.json.decode(body, type=Failure))
    except (ValueError, RecursionError):
        return ModelError("server_error", OTHER_VERSION)


def _unreachable(error: Exception, begun: bool) -> ModelError:
    """Without the error's own chain, which holds the token."""
    reason = str(error)[:200] or type(error).__name__
    words = Sentence("The Jupyter server cannot be reached: {reason}", reason=reason)
    return ModelError("broken_stream" if begun else "offline", words)
