"""The protocol over HTTP: paths, and what answers each."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.parse
from collections.abc import Callable, Coroutine
from typing import Any

from .errors import StoppingError, UnknownModelError, error_of_call
from .http_bodies import compressed, decompressed
from .http_codec import LENGTH_HEADER
from .http_connection import HttpAnswer, HttpConnection, HttpLimits, HttpRequest, HttpTraffic
from .http_infer import infer
from .metrics import CONTENT_TYPE
from .state import SERVER_METADATA, ServerState

_LENGTH = LENGTH_HEADER.lower()
_JSON = {"Content-Type": "application/json"}
_GET, _POST = ("GET", "HEAD"), ("POST",)
_BACKLOG = 1024
"""Connections that the system takes before the event loop does."""
_ENDING_SECONDS = 1.0
"""That connections which are aborted get to end."""

Answering = Callable[[HttpRequest, str, str], Coroutine[Any, Any, HttpAnswer]]
"""Of a request about a model and a version of it, both empty where the path names none."""


class HttpService:
    """Answers all paths of the protocol, on the connections of one port; errors of any kind are JSON objects with `error`."""

    def __init__(self, state: ServerState, figures: Callable[[], bytes]) -> None:
        self._state, self._figures = state, figures
        self._traffic = HttpTraffic()
        self._server: asyncio.AbstractServer | None = None
        self._paths: dict[tuple[str, ...], tuple[tuple[str, ...], Answering]] = {
            ("v2",): (_GET, self._server_metadata),
            ("v2", "health", "live"): (_GET, self._live),
            ("v2", "health", "ready"): (_GET, self._ready),
            ("metrics",): (_GET, self._metrics),
        }
        self._of_models: dict[tuple[str, ...], tuple[tuple[str, ...], Answering]] = {
            ("infer",): (_POST, self._infer),
            ("ready",): (_GET, self._model_ready),
            (): (_GET, self._model_metadata),
        }

    async def listen(self, tls: ssl.SSLContext | None) -> int:
        """Take connections, by TLS alone where that is given; returns the port. `OSError` where it is taken."""
        options, loop = self._state.options, asyncio.get_running_loop()
        limits = HttpLimits(options.max_request_bytes, options.timeout)

        def connection() -> HttpConnection:
            return HttpConnection(self._answer, limits, self._traffic, loop)

        self._server = await loop.create_server(connection, options.host, options.http_port, ssl=tls, backlog=_BACKLOG)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, grace: float) -> None:
        """Take no new connections, and answer what has arrived for `grace` seconds at most."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._traffic.connections):
            connection.end()
        await self._emptied(grace)
        for connection in list(self._traffic.connections):
            connection.abort()
        await self._emptied(_ENDING_SECONDS)

    async def _emptied(self, seconds: float) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while self._traffic.connections and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.01)

    async def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            return await self._routed(request)
        except Exception as raised:
            error = error_of_call(raised)
            return _error(str(error), error.http_status)

    async def _routed(self, request: HttpRequest) -> HttpAnswer:
        path = _path_of(request.target)
        parts = tuple(map(urllib.parse.unquote, path.split("/")[1:]))
        found, model, version = self._paths.get(parts), "", ""
        if parts[:2] == ("v2", "models") and len(parts) > 2:
            model, rest = parts[2], parts[3:]
            if rest[:1] == ("versions",) and len(rest) > 1:
                version, rest = rest[1], rest[2:]
            found = self._of_models.get(rest)
        if found is None or (request.failure is not None and not request.method):
            raise request.failure or UnknownModelError(f"no such path: {path[:200]}")
        methods, answering = found
        if request.method not in methods:
            answer = _error(f"method not allowed: {request.method} {path[:200]}", 405)
            return HttpAnswer(answer.body, {**answer.headers, "Allow": ", ".join(methods)}, 405)
        if request.failure is not None and answering != self._infer:
            raise request.failure
        return await answering(request, model, version)

    async def _live(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        return HttpAnswer()

    async def _ready(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        if not self._state.is_ready:
            raise StoppingError("the server is being stopped")
        return HttpAnswer()

    async def _server_metadata(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        return _json(SERVER_METADATA)

    async def _model_ready(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        self._state.repository.find(model, version)
        return await self._ready(request, model, version)

    async def _model_metadata(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        return _json(self._state.repository.find(model, version).loaded.interface.metadata())

    async def _metrics(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        return HttpAnswer(self._figures(), {"Content-Type": CONTENT_TYPE})

    async def _infer(self, request: HttpRequest, model: str, version: str) -> HttpAnswer:
        with self._state.answering("http", model, request.since):
            served = self._state.repository.find(model, version)
            if request.failure is not None:
                raise request.failure
            encoding = request.headers.get("content-encoding", "identity").lower()
            body = await decompressed(request.body, encoding, self._state.options.max_request_bytes)
            answer, headers = await infer(served, body, request.headers.get(_LENGTH), self._traffic.asked == 1)
            if accepted := request.headers.get("accept-encoding"):
                answer, encoding = await compressed(answer, accepted)
                headers |= {"Content-Encoding": encoding} if encoding else {}
            return HttpAnswer(answer, headers)


def _path_of(target: bytes) -> str:
    """The path that a request names, which may be part of a whole address."""
    path = target.partition(b"?")[0].decode("latin-1")
    if path.startswith("/"):
        return path
    try:
        return urllib.parse.urlsplit(path).path
    except ValueError:  # an address that is none
        return ""


def _json(value: Any) -> HttpAnswer:
    return HttpAnswer(json.dumps(value).encode(), _JSON)


def _error(reason: str, status: int) -> HttpAnswer:
    return HttpAnswer(json.dumps({"error": reason}).encode(), _JSON, status)
