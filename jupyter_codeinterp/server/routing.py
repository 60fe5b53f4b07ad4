"""Imports and adds the extension's routes on the first request for one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import PathMatches, Router, Rule

API = ("codeinterp", "api")


class FirstRequest(Router):
    """Adds the routes, then handles nothing itself: tornado goes on with later rules.

    It adds them like any extension's routes, so the server checks that each method needs a login.
    """

    SUPPORTED_METHODS = ()
    """For the server's login check: this router handles no method."""

    def __init__(self, app: Any, prepare: Callable[[], None]) -> None:
        self._app = app
        self._prepare = prepare
        self._added = False

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        if not self._added:
            self._prepare()
            self._add()
            self._added = True
        return None

    def _add(self) -> None:
        from .rest.routes import handlers

        self._app.add_handlers(".*$", handlers(self._app.settings["base_url"]))


def route_lazily(app: Any, prepare: Callable[[], None]) -> None:
    """Add the routes lazily to the web application ``app``. ``prepare`` is called first."""
    place = url_path_join(app.settings["base_url"], *API, ".*")
    app.add_handlers(".*$", [Rule(PathMatches(place), FirstRequest(app, prepare))])
