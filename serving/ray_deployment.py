"""A Ray Serve deployment of engine files: the Open Inference Protocol behind Ray's HTTP proxies, on as many machines as it has.

    app = EngineDeployment.options(num_replicas=2).bind("resnet=resnet50.dlce", max_batch_size=8)
    serve.run(app)

or `serve run dlc.serving.ray_deployment:build models=resnet50.dlce`. Needs the extra `ray`.
"""

# No `from __future__ import annotations`: FastAPI reads annotations as objects, whose names the copy that Ray makes lacks.

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from fastapi import FastAPI
from ray import serve
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .errors import ServingError, StoppingError, TooLargeError
from .http_bodies import decompressed
from .http_codec import LENGTH_HEADER
from .http_infer import infer
from .options import ServeOptions
from .ray_metrics import RayMetrics
from .ray_options import read_config
from .repository import Repository
from .state import SERVER_METADATA, ServerState

_MODEL = "/v2/models/{model}"
_VERSION = "/v2/models/{model}/versions/{version}"
_ONGOING = 256
"""Requests that Ray sends to a replica before their answers: batches are made of those that wait there."""
_LOOK = 0.05
"""Seconds between two looks whether the last requests of replaced models are answered."""

_api = FastAPI(openapi_url=None)


# Ray copies the class with the globals that there are when it is decorated: what it needs comes before it.


async def _close(state: ServerState) -> None:
    """Once the requests are answered that found a model there."""
    while state.active:
        await asyncio.sleep(_LOOK)
    state.repository.close()


async def _open(sources: Sequence[str], options: ServeOptions, metrics: RayMetrics) -> ServerState:
    repository = Repository(sources, options, metrics)
    try:
        await asyncio.to_thread(repository.open, asyncio.get_running_loop())
    except BaseException:
        repository.close()
        raise
    return ServerState(options, repository, metrics, is_ready=True)


def _processors() -> int:
    """CPUs that Ray has reserved for the replica."""
    found = ray.get_runtime_context().get_assigned_resources().get("CPU", 1)
    return max(1, int(found))


async def _body(request: Request, most: int) -> bytes:
    """All of it, decompressed, of at most `most` bytes."""
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    body = await decompressed(await request.body(), encoding, most)
    if len(body) > most:
        raise TooLargeError(f"the request has more than {most} bytes")
    return body


@_api.exception_handler(ServingError)
async def _on_serving_error(request: Request, error: ServingError) -> Response:
    return JSONResponse({"error": str(error)}, error.http_status)


@_api.exception_handler(HTTPException)
async def _on_http_error(request: Request, error: HTTPException) -> Response:
    path = request.url.path[:200]
    text = f"no such path: {path}" if error.status_code == 404 else f"{str(error.detail).lower()}: {request.method} {path}"
    return JSONResponse({"error": text}, error.status_code, error.headers)


@serve.deployment(max_ongoing_requests=_ONGOING)
@serve.ingress(_api)
class EngineDeployment:
    """Serves `models`: engine files, `NAME=FILE`, and folders of engine files, all on a path that every node has.

    Options, here and in `user_config`, which goes before them and may change while requests are served: `models`, `max_batch_size`
    and `batch_wait_timeout_s` (batching, as `serve.batch` calls it), `max_queue`, `max_request_bytes`, `timeout_s`, `poll_s`,
    `num_threads` (by default the CPUs that Ray gives the replica), `verify_key`, `in_memory`.
    """

    async def __init__(self, models: str | Sequence[str] = (), **options: Any) -> None:  # type: ignore[misc]  # Ray awaits it
        self._given = {**({"models": models} if models else {}), **options}
        self._metrics = RayMetrics()
        self._state: ServerState | None = None
        self._watch: asyncio.Future[None] | None = None
        if models:
            await self.reconfigure({})

    async def reconfigure(self, user_config: Mapping[str, Any]) -> None:
        """Load the models that arguments and `user_config` tell of; those that were served stay so until all are loaded.

        `InvalidInputError`, `RuntimeLoadError` or `TargetError` says what stands against it.
        """
        sources, options = read_config({**self._given, **user_config}, _processors)
        before, watch = self._state, self._watch
        self._state = await _open(sources, options, self._metrics)
        self._watch = asyncio.ensure_future(self._state.repository.watch())
        if before is not None and watch is not None:
            watch.cancel()
            self._ended = asyncio.ensure_future(_close(before))

    async def check_health(self) -> None:
        """Raises for Ray, which then replaces the replica."""
        if self._state is not None:
            self._state.repository.check_threads()

    def __del__(self) -> None:
        if self._state is not None:
            self._state.repository.close()

    def _ready(self) -> ServerState:
        if self._state is None:
            raise StoppingError("no models are served yet; give them as an argument or in user_config")
        return self._state

    @_api.get("/v2/health/live")
    async def live(self) -> Response:
        """Whether the server answers."""
        return Response()

    @_api.get("/v2/health/ready")
    async def ready(self) -> Response:
        """Whether models are loaded."""
        self._ready()
        return Response()

    @_api.get("/v2")
    async def server_metadata(self) -> Response:
        """Name, version and extensions."""
        return JSONResponse(SERVER_METADATA)

    @_api.get(f"{_MODEL}/ready")
    @_api.get(f"{_VERSION}/ready")
    async def model_ready(self, model: str, version: str = "") -> Response:
        """Whether the model is served."""
        self._ready().repository.find(model, version)
        return Response()

    @_api.get(_MODEL)
    @_api.get(_VERSION)
    async def model_metadata(self, model: str, version: str = "") -> Response:
        """Inputs and outputs."""
        return JSONResponse(self._ready().repository.find(model, version).loaded.interface.metadata())

    @_api.post(f"{_MODEL}/infer")
    @_api.post(f"{_VERSION}/infer")
    async def infer(self, request: Request, model: str, version: str = "") -> Response:
        """The outputs."""
        state = self._ready()
        with state.answering("http", model):
            found = state.repository.find(model, version)
            body = await _body(request, state.options.max_request_bytes)
            answer, headers = await infer(found, body, request.headers.get(LENGTH_HEADER))
            return Response(answer, headers=headers)


def build(arguments: Mapping[str, str]) -> serve.Application:
    """The application of `serve run`: `models=` files or folders, separated by commas; numbers as the options have them."""
    given: dict[str, Any] = {key: _value(text) for key, text in arguments.items() if key != "models"}
    made: Any = EngineDeployment  # what the decorator makes of the class
    return made.bind(models=[each for each in arguments.get("models", "").split(",") if each], **given)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
