"""A server of both protocols: start, graceful stop, and the command's main loop."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Sequence

from ..errors import RuntimeLoadError
from .grpc_server import GrpcService
from .http_server import HttpService
from .metrics import Metrics
from .options import ServeOptions
from .repository import LOG, Repository
from .state import ServerState
from .tls import Tls


class Server:
    """Serves the models of `sources`: engine files, `NAME=FILE`, and folders of engine files.

    `await start()`, then `http_port` and `grpc_port` are where it listens; `await stop()` answers what has arrived.
    """

    def __init__(self, sources: Sequence[str], options: ServeOptions) -> None:
        self._tls = Tls.of(options.tls) if options.tls else None
        self._metrics = Metrics()
        self._state = ServerState(options, Repository(sources, options, self._metrics), self._metrics)
        self.http_port, self.grpc_port = options.http_port, options.grpc_port

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that are served now."""
        return tuple(self._state.repository.models)

    async def start(self) -> None:
        """Load the models and listen; `RuntimeLoadError` or `TargetError` says what stands against it."""
        repository = self._state.repository
        repository.open(asyncio.get_running_loop())
        try:
            self._grpc, self.grpc_port = GrpcService(self._state).server(self._tls.grpc if self._tls else None)
            await self._start_http()
        except BaseException:
            repository.close()
            raise
        await self._grpc.start()
        self._watch = asyncio.ensure_future(repository.watch())
        self._state.is_ready = True

    async def _start_http(self) -> None:
        options = self._state.options
        self._http = HttpService(self._state, self._metrics.text)
        try:
            self.http_port = await self._http.listen(self._tls.http if self._tls else None)
        except OSError as error:
            reason = f"cannot listen on {options.host}:{options.http_port} for HTTP: {(error.strerror or str(error)).lower()}"
            raise RuntimeLoadError(f"{reason}; give another --http-port") from None

    async def stop(self) -> None:
        """Take no new connections, answer the requests that are here, for `grace` seconds at most, and end."""
        self._state.is_ready = False
        self._watch.cancel()
        await asyncio.gather(self._http.stop(self._state.options.grace), self._grpc.stop(self._state.options.grace))
        self._state.repository.close()


def serve(sources: Sequence[str], options: ServeOptions, show: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends at once. `show` is told where the server listens."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    LOG.setLevel(logging.INFO)
    loop = _new_loop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(_serve(Server(sources, options), options, show))
    finally:
        loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's, which is faster, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve(server: Server, options: ServeOptions, show: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    await server.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _on_signal, loop, stop, number)
    models = ", ".join(server.models) or "no models yet"
    secure = "s" if options.tls else ""
    http, grpc = (f"{options.host}:{port}" for port in (server.http_port, server.grpc_port))
    show(f"serving {models} on http{secure}://{http} and grpc{secure}://{grpc}")
    await stop.wait()
    begin = time.perf_counter()
    await server.stop()
    LOG.info("stopped after %.1f s", time.perf_counter() - begin)


def _on_signal(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, number: signal.Signals) -> None:
    stop.set()
    loop.remove_signal_handler(number)
    signal.signal(number, signal.SIG_DFL)
