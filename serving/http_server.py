"""The protocol over HTTP, by aiohttp."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from .errors import InvalidRequestError, ServingError, StoppingError, TimedOutError, TooLargeError, UnknownModelError, error_of_call
from .http_codec import LENGTH_HEADER
from .http_infer import infer
from .metrics import CONTENT_TYPE
from .state import SERVER_METADATA, ServerState

_LARGE_TO_COMPRESS = 1 << 16
"""Bytes from which on another thread compresses."""
_ENCODINGS = ("identity", "gzip", "deflate")


class HttpService:
    """Handlers of all paths of the protocol."""

    def __init__(self, state: ServerState, figures: Callable[[], bytes]) -> None:
        self._state, self._figures = state, figures

    def application(self) -> web.Application:
        """All routes; errors of any kind are JSON objects with `error`."""
        app = web.Application(client_max_size=self._state.options.max_request_bytes, middlewares=[_errors_as_json])
        for path in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}"):
            app.router.add_post(f"{path}/infer", self._infer)
            app.router.add_get(f"{path}/ready", self._model_ready)
            app.router.add_get(path, self._model_metadata)
        app.router.add_get("/v2", self._server_metadata)
        app.router.add_get("/v2/health/live", self._live)
        app.router.add_get("/v2/health/ready", self._ready)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _live(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _ready(self, request: web.Request) -> web.Response:
        if not self._state.is_ready:
            raise StoppingError("the server is being stopped")
        return web.Response()

    async def _server_metadata(self, request: web.Request) -> web.Response:
        return _json_response(SERVER_METADATA)

    async def _model_ready(self, request: web.Request) -> web.Response:
        self._state.repository.find(*_model_of(request))
        return await self._ready(request)

    async def _model_metadata(self, request: web.Request) -> web.Response:
        return _json_response(self._state.repository.find(*_model_of(request)).loaded.interface.metadata())

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(body=self._figures(), headers={"Content-Type": CONTENT_TYPE})

    async def _infer(self, request: web.Request) -> web.Response:
        with self._state.answering("http", request.match_info["model"]) as begin:
            model = self._state.repository.find(*_model_of(request))
            body = await self._body(request, begin)
            answer, headers = await infer(model, body, request.headers.get(LENGTH_HEADER))
            return _infer_response(request, answer, headers)

    async def _body(self, request: web.Request, begin: float) -> bytes:
        """All of it, within the bounds of size and time."""
        options = self._state.options
        length, encoding = request.content_length, request.headers.get("Content-Encoding", "identity").lower()
        if length is not None and length > options.max_request_bytes:
            raise TooLargeError(f"the request has {length} bytes; the server takes {options.max_request_bytes}")
        if encoding not in _ENCODINGS:
            raise InvalidRequestError(f"the content encoding {encoding[:60]!r} is not supported; use {', '.join(_ENCODINGS)}")
        try:
            if request.content.is_eof():  # it is all here, which spares a task
                return self._bounded(request.content.read_nowait())
            return await asyncio.wait_for(request.read(), max(0.0, options.timeout - (time.perf_counter() - begin)))
        except web.HTTPRequestEntityTooLarge:
            raise self._too_large() from None
        except asyncio.TimeoutError:
            raise TimedOutError(f"the request has not arrived within {options.timeout:g} s") from None
        except (web.RequestPayloadError, ConnectionError) as error:
            raise InvalidRequestError(f"the body cannot be read: {str(error)[:200]}") from None

    def _bounded(self, body: bytes) -> bytes:
        if len(body) > self._state.options.max_request_bytes:
            raise self._too_large()
        return body

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"the request has more than {self._state.options.max_request_bytes} bytes")


def _model_of(request: web.Request) -> tuple[str, str]:
    return request.match_info["model"], request.match_info.get("version", "")


def _infer_response(request: web.Request, answer: bytes, headers: dict[str, str]) -> web.Response:
    response = web.Response(body=answer, headers=headers, zlib_executor_size=_LARGE_TO_COMPRESS)
    if request.headers.get("Accept-Encoding"):
        response.enable_compression()
    return response


def _json_response(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=json.dumps(value).encode(), status=status, content_type="application/json")


@web.middleware
async def _errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPNotFound:
        error: ServingError = UnknownModelError(f"no such path: {request.path[:200]}")
    except web.HTTPException as other:
        return _json_response({"error": f"{other.reason.lower()}: {request.method} {request.path[:200]}"}, other.status)
    except Exception as raised:
        error = error_of_call(raised)
    response = _json_response({"error": str(error)}, error.http_status)
    if not request.content.is_eof():
        response.force_close()  # rather than reading the rest of what is refused
    return response
