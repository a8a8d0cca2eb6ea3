"""Connections of HTTP/1.1: what clients may do with one, and what is refused before a request is whole."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
import unittest.mock
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served import Running, running

from dlc.serving.errors import TooLargeError
from dlc.serving.http_connection import Handler, HttpAnswer, HttpConnection, HttpLimits, HttpRequest, HttpTraffic

RECORD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 12], "data": [0.5] * 12}]}
BODY = json.dumps(RECORD).encode()
INFER = b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\n"
WHOLE = INFER + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY


@pytest.fixture
def connection(server: Running) -> Iterator[socket.socket]:
    with connected(server) as made:
        yield made


def connected(server: Running) -> socket.socket:
    host, port = server.http.split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answer_on(reader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the next answer; the body is empty where its length is not told."""
    status = int(reader.readline().split()[1])
    headers: dict[str, str] = {}
    while (line := reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return status, headers, reader.read(int(headers.get("content-length", "0")))


def test_answers_come_in_the_order_of_requests(connection: socket.socket) -> None:
    """Of forty that are sent at once, two kinds in turns."""
    health = b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n"
    connection.sendall((WHOLE + health) * 20)
    reader = connection.makefile("rb")
    for _ in range(20):
        status, _, body = answer_on(reader)
        assert status == 200 and json.loads(body)["model_name"] == "small"
        assert answer_on(reader)[::2] == (200, b"")


def test_requests_in_pieces(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reader = connection.makefile("rb")
    for _ in range(2):
        for byte in WHOLE:
            connection.sendall(bytes([byte]))
        assert answer_on(reader)[0] == 200
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
    connection.sendall(INFER + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    assert answer_on(reader)[0] == 200


@pytest.mark.parametrize("head", [b"HTTP/1.0\r\nHost: a", b"HTTP/1.1\r\nHost: a\r\nConnection: close"])
def test_the_last_request_of_a_connection(connection: socket.socket, head: bytes) -> None:
    connection.sendall(b"GET /v2/health/live " + head + b"\r\n\r\n")
    content = connection.makefile("rb").read()
    assert content.startswith(b"HTTP/1.1 200 OK\r\n") and b"Connection: close\r\n" in content


def test_what_is_asked_before_a_body_is_sent(connection: socket.socket) -> None:
    connection.sendall(INFER + f"Expect: 100-continue\r\nContent-Length: {len(BODY)}\r\n\r\n".encode())
    reader = connection.makefile("rb")
    assert (reader.readline(), reader.readline()) == (b"HTTP/1.1 100 Continue\r\n", b"\r\n")
    connection.sendall(BODY)
    assert answer_on(reader)[0] == 200


def test_whole_addresses(connection: socket.socket) -> None:
    connection.sendall(b"GET http://a:1/v2/health/live?x=/y HTTP/1.1\r\nHost: a\r\n\r\nGET a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
    reader = connection.makefile("rb")
    assert answer_on(reader)[0] == 200
    assert answer_on(reader)[0] in (400, 404)


def test_an_address_that_is_none(connection: socket.socket) -> None:
    connection.sendall(b"GET http://[a/v2 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer_on(connection.makefile("rb"))[0] in (400, 404)


def test_heads_alone(connection: socket.socket) -> None:
    connection.sendall(b"HEAD /v2 HTTP/1.1\r\nHost: a\r\n\r\nGET /v2 HTTP/1.1\r\nHost: a\r\n\r\n")
    reader = connection.makefile("rb")
    lines = [reader.readline() for _ in range(5)]
    assert lines[0] == b"HTTP/1.1 200 OK\r\n" and lines[2].startswith(b"Date: ") and lines[-1] == b"\r\n"
    status, headers, body = answer_on(reader)
    assert status == 200 and lines[1] == f"Content-Length: {headers['content-length']}\r\n".encode() and body


@pytest.mark.waits
@pytest.mark.parametrize(
    "content", [b"\x16\x03\x01\x02", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", WHOLE[:20] + b"\x00" + WHOLE[20:]]
)
def test_bytes_that_are_no_request(connection: socket.socket, content: bytes) -> None:
    connection.sendall(content + bytes(100))
    status, headers, body = answer_on(connection.makefile("rb"))
    assert status == 400 and headers["connection"] == "close"
    assert json.loads(body)["error"].startswith("no request of HTTP/1.1: ")


@pytest.mark.waits
@pytest.mark.parametrize(
    "part", [b"a" * 70_000, b"Long: " + b"a" * 70_000, b"".join(b"H%d: a\r\n" % number for number in range(9000))]
)
def test_heads_that_are_too_long(connection: socket.socket, part: bytes) -> None:
    connection.sendall((b"GET /" if part[:1] == b"a" else b"GET / HTTP/1.1\r\n") + part)
    status, _, body = answer_on(connection.makefile("rb"))
    assert status == 413 and b"request line and headers have more than 65536 bytes" in body


@pytest.mark.waits
def test_heads_that_do_not_end(small_file: Path) -> None:
    with running([small_file], timeout=0.3) as server, connected(server) as connection:
        connection.sendall(b"GET /v2 HTTP/1.1\r\nHost")
        content = connection.makefile("rb").read()
    assert content.startswith(b"HTTP/1.1 504") and b"has not arrived within 0.3 s" in content


def test_an_answer_that_nobody_reads_holds_nothing(small_file: Path) -> None:
    with running([small_file], timeout=0.5) as server, connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(5)
        with pytest.raises((ConnectionError, TimeoutError)):  # the server gives the connection up
            for _ in range(10_000):
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 100)
        assert server.infer("small", RECORD)[0] == 200


@pytest.mark.waits
def test_what_follows_a_refused_request_is_not_answered(connection: socket.socket) -> None:
    connection.sendall(INFER + b"Content-Length: 99999999999\r\n\r\n" + WHOLE)
    content = connection.makefile("rb").read()
    assert content.count(b"HTTP/1.1 ") == 1 and content.startswith(b"HTTP/1.1 413")


def test_an_upgrade_is_not_taken(connection: socket.socket) -> None:
    upgrade = b"GET /v2 HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"
    connection.sendall(b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n" * 2 + upgrade)
    content = connection.makefile("rb").read()
    assert content.count(b"HTTP/1.1 200 OK") == 3 and content.count(b"Connection: close") == 1


def parsed(content: bytes, handler: Handler, then: Callable[[HttpConnection], None]) -> None:
    """Let a connection that takes bodies of 10 bytes get `content`, and look at it `then`."""

    async def run() -> None:
        connection = HttpConnection(handler, HttpLimits(10, 60.0), HttpTraffic(), asyncio.get_running_loop())
        connection.connection_made(unittest.mock.Mock())
        connection.data_received(content)
        for _ in range(5):
            await asyncio.sleep(0)
        then(connection)
        connection.connection_lost(None)

    asyncio.run(run())


def test_a_request_is_refused_once() -> None:
    """Its body is too long, and no body after that."""

    async def answer(request: HttpRequest) -> HttpAnswer:
        assert isinstance(request.failure, TooLargeError)
        return HttpAnswer()

    def look(connection: HttpConnection) -> None:
        assert connection.is_idle

    parsed(INFER + b"Transfer-Encoding: chunked\r\n\r\n14\r\n" + bytes(20) + b"\r\nzz\r\n", answer, look)


def test_a_client_that_reads_again_may_wait_for_an_answer() -> None:
    """However long: the time of connections without requests is not for those with one."""

    async def answer(request: HttpRequest) -> HttpAnswer:
        await asyncio.sleep(3600)
        return HttpAnswer()

    def look(connection: HttpConnection) -> None:
        connection.pause_writing()
        connection.resume_writing()
        assert not connection.is_idle and connection._timer is None

    parsed(b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n", answer, look)


def test_compression(server: Running) -> None:
    plain = server.infer("small", RECORD)[1]
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    for encoding, body in (
        ("gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", raw.compress(BODY) + raw.flush()),
    ):
        status, answer = server.request(
            "/v2/models/small/infer", body, Content_Encoding=encoding, Accept_Encoding=f"br, {encoding};q=0.5"
        )
        found = gzip.decompress(answer) if encoding == "gzip" else zlib.decompress(answer)
        assert status == 200 and json.loads(found) == plain
    status, answer = server.request("/v2/models/small/infer", gzip.compress(BODY)[:-9], Content_Encoding="gzip")
    assert status == 400 and b"its compressed data end early" in answer
    twice = gzip.compress(BODY) + gzip.compress(b"more")
    status, answer = server.request("/v2/models/small/infer", twice, Content_Encoding="gzip")
    assert status == 400 and b"24 bytes follow the body's compressed data; compress all of it as one" in answer
    assert json.loads(server.request("/v2/models/small/infer", BODY, Accept_Encoding="gzip;q=0, br")[1]) == plain


def test_stopping_does_not_wait_for_idle_connections(small_file: Path) -> None:
    begin = time.monotonic()
    with running([small_file], grace=60.0) as server:
        connection = connected(server)
        connection.sendall(WHOLE)
        reader = connection.makefile("rb")
        assert answer_on(reader)[0] == 200
    assert reader.read() == b""
    assert time.monotonic() - begin < 30
