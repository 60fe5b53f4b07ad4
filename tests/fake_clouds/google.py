"""Who gives Google's tokens: a service account signs that it is itself, and gets one."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

TOKEN = "ya29.fake-token-of-google-0123456789"


class FakeTokens:
    """``with FakeTokens() as tokens: … tokens.url …``. ``refuses``: the error that it answers
    with, as of an account that is no more."""

    def __init__(self, token: str = TOKEN, refuses: str = "") -> None:
        self.token = token
        self.refuses = refuses
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
                outer.asked += 1
                answer: dict[str, Any] = {
                    "access_token": outer.token,
                    "expires_in": 3600,
                    "token_type": "Bearer",
                }
                right = form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
                if outer.refuses or not right:
                    answer = {"error": "invalid_grant", "error_description": outer.refuses}
                data = json.dumps(answer).encode()
                self.send_response(200 if "access_token" in answer else 400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Not on the tests' output."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/token"

    def __enter__(self) -> FakeTokens:
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def service_account(file: Path, token_url: str) -> Path:
    """The file that GOOGLE_APPLICATION_CREDENTIALS names."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    content = {
        "type": "service_account",
        "project_id": "project-of-the-account",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "me@project-of-the-account.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": token_url,
    }
    file.write_text(json.dumps(content))
    return file
