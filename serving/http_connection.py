"""One connection of HTTP/1.1, read by httptools (llhttp): its requests are answered one after the other."""

from __future__ import annotations

import asyncio
import email.utils
import functools
import http
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import httptools

from .errors import InvalidRequestError, ServingError, TimedOutError, TooLargeError

_KEEP_ALIVE = 75.0
"""Seconds that a connection without requests is kept."""
_LINGER = 2.0
"""Seconds that the rest of a refused request is read and dropped, so that its sender sees the answer."""
_MOST_HEAD_BYTES = 64 << 10
"""Bytes of request line and headers together."""


@dataclass
class HttpRequest:
    """A request; names of headers are in lower case. `failure` says why its body is not there."""

    method: str = ""
    target: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: ServingError | None = None
    keeps_alive: bool = True
    since: float = 0.0
    """When its first bytes came, by `time.perf_counter`."""


@dataclass(frozen=True)
class HttpAnswer:
    """What is sent back."""

    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class HttpLimits:
    """What a request may take."""

    body_bytes: int
    seconds: float
    """From its first bytes until the last."""


Handler = Callable[[HttpRequest], Awaitable[HttpAnswer]]
"""Raises nothing."""


@dataclass(eq=False)
class HttpTraffic:
    """The connections of one port, and how many of their requests are being answered, or are about to be."""

    connections: set[HttpConnection] = field(default_factory=set)
    asked: int = 0


class HttpConnection(asyncio.Protocol):
    """Parses what comes, lets `handler` answer each request, and ends what a client that goes has left."""

    def __init__(self, handler: Handler, limits: HttpLimits, traffic: HttpTraffic, loop: asyncio.AbstractEventLoop) -> None:
        """`traffic` counts it as long as it is connected."""
        self._handler, self._limits, self._traffic, self._loop = handler, limits, traffic, loop
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._request: HttpRequest | None = None
        """The one that is being read."""
        self._parts: list[bytes] = []
        self._size = self._head_bytes = 0
        self._in_head = True
        self._waiting: deque[HttpRequest] = deque()
        self._task: asyncio.Task[HttpAnswer] | None = None
        self._answering: HttpRequest | None = None
        self._is_ending = self._is_deaf = self._is_full = self._is_paused = False

    @property
    def is_idle(self) -> bool:
        """Whether no request has arrived that is not answered."""
        return self._task is None and not self._waiting

    def end(self) -> None:
        """Close once what has arrived is answered."""
        self._is_ending = True
        if self.is_idle:
            self._close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class
        self._traffic.connections.add(self)
        self._wait(_KEEP_ALIVE, self._close)

    def connection_lost(self, error: Exception | None) -> None:
        self._traffic.connections.discard(self)
        self._wait(0, None)
        self._waiting.clear()
        self._transport, self._is_deaf = None, True
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        if self._in_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # to what this does not speak: the request itself is answered
            self._hear_no_more()
        except httptools.HttpParserError as error:
            self._refuse(InvalidRequestError(f"no request of HTTP/1.1: {str(error)[:200]}"))
        if self._in_head and self._head_bytes > _MOST_HEAD_BYTES:
            self._refuse(TooLargeError(f"request line and headers have more than {_MOST_HEAD_BYTES} bytes"))

    def pause_writing(self) -> None:
        self._is_paused = True
        self._wait(self._limits.seconds, self.abort)

    def resume_writing(self) -> None:
        self._is_paused = False
        self._next()
        if self._request is not None:
            self._wait(self._limits.seconds, self._give_up)
        elif self.is_idle:
            self._wait(_KEEP_ALIVE, self._close)
        else:
            self._wait(0, None)

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._is_deaf:
            return
        self._request = HttpRequest(since=time.perf_counter())
        self._parts, self._size, self._in_head = [], 0, True
        self._wait(self._limits.seconds, self._give_up)

    def on_url(self, part: bytes) -> None:
        if self._request is not None:
            self._request.target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._request is not None:
            self._request.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        request = self._request
        if request is None:
            return
        request.method = self._parser.get_method().decode("latin-1")
        request.keeps_alive = self._parser.should_keep_alive()
        length = request.headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > self._limits.body_bytes:
            self._refuse(TooLargeError(f"the request has {length} bytes; the server takes {self._limits.body_bytes}"))
        elif request.headers.get("expect", "").lower() == "100-continue" and self._transport is not None and self.is_idle:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        if self._request is None:
            return
        if self._size > self._limits.body_bytes:
            self._refuse(TooLargeError(f"the request has more than {self._limits.body_bytes} bytes"))
        else:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        request, self._request, self._in_head = self._request, None, True
        if request is None:
            return
        request.body = b"".join(self._parts) if len(self._parts) != 1 else self._parts[0]
        self._wait(0, None)
        self._enter(request)

    # Requests and answers.

    def _enter(self, request: HttpRequest) -> None:
        self._waiting.append(request)
        self._next()
        if self._waiting and not self._is_full and self._transport is not None:
            self._transport.pause_reading()  # no more until what has arrived is answered
            self._is_full = True

    def _refuse(self, error: ServingError) -> None:
        """Answer the request that is being read by `error`, and read no more; what the parser still says of it counts no more."""
        if self._is_deaf:
            return
        request = self._request or HttpRequest(since=time.perf_counter())
        self._request, request.failure, request.keeps_alive = None, error, False
        self._hear_no_more()
        self._enter(request)

    def _give_up(self) -> None:
        self._refuse(TimedOutError(f"the request has not arrived within {self._limits.seconds:g} s"))

    def _hear_no_more(self) -> None:
        self._is_deaf = True
        self._wait(0, None)

    def _next(self) -> None:
        """Begin with the next request that waits, where the one before it is answered and its answer on its way."""
        if self._task is not None or self._is_paused or not self._waiting:
            return
        self._answering = self._waiting.popleft()
        self._traffic.asked += 1
        self._task = self._loop.create_task(self._handler(self._answering))  # type: ignore[arg-type]
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[HttpAnswer]) -> None:
        self._traffic.asked -= 1
        request, self._task, self._answering = self._answering, None, None
        if task.cancelled() or self._transport is None or request is None:
            return
        is_last = not request.keeps_alive or (not self._waiting and (self._is_ending or self._is_deaf))
        self._transport.write(_content(task.result(), request.method, is_last))
        if is_last and request.failure is None:
            self._close()
            return
        if is_last:
            self._wait(_LINGER, self._close)
            return
        self._next()
        if self._is_full and not self._waiting:
            self._transport.resume_reading()
            self._is_full = False
        if self.is_idle and self._request is None and not self._is_paused:
            self._wait(_KEEP_ALIVE, self._close)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _wait(self, seconds: float, then: Callable[[], Any] | None) -> None:
        """Call `then` after so many seconds, unless something else is waited for before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if then is None else self._loop.call_later(seconds, then)


_REASONS = {status.value: status.phrase for status in http.HTTPStatus}


@functools.lru_cache(maxsize=1)
def _date(second: int) -> str:
    return email.utils.formatdate(second, usegmt=True)


def _content(answer: HttpAnswer, method: str, closes: bool) -> bytes:
    """The bytes of an answer."""
    lines = [f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}", f"Content-Length: {len(answer.body)}"]
    lines.append(f"Date: {_date(int(time.time()))}")
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    if closes:
        lines.append("Connection: close")
    head = "\r\n".join([*lines, "\r\n"]).encode("latin-1")
    return head if method == "HEAD" else head + answer.body
