"""Load on a server over HTTP: one request over and over on each connection, by wrk, or by asyncio where that is missing.

Both share the processors with the server; wrk, a package of Debian and others, leaves more of them to it.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CLIENT = "wrk" if shutil.which("wrk") else "asyncio"
"""What asks."""
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_SCRIPT = """
local file = io.open("{body}", "rb")
wrk.method, wrk.body = "POST", file:read("*a")
wrk.headers["Inference-Header-Content-Length"] = "{head}"
"""


@dataclass(frozen=True)
class Load:
    """Answers of so many seconds, and seconds of each at two percentiles."""

    answers: int
    seconds: float
    p50: float
    p99: float


def load_of(port: int, request: bytes, connections: int, seconds: float) -> Load:
    """`request`, an inference request of the model `m`, on all connections for `seconds`; `RuntimeError` if one is refused."""
    if CLIENT == "wrk":
        return _by_wrk(port, request, connections, seconds)
    times = asyncio.run(_by_asyncio(port, request, connections, seconds))
    return Load(len(times), seconds, *np.percentile(times, (50, 99)))


def _by_wrk(port: int, request: bytes, connections: int, seconds: float) -> Load:
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"Inference-Header-Content-Length: (\d+)", head)
    assert length is not None
    with tempfile.TemporaryDirectory() as folder:
        script, content = Path(folder) / "request.lua", Path(folder) / "body"
        content.write_bytes(body)
        script.write_text(_SCRIPT.format(body=content, head=length.group(1).decode()))
        times = ["-t1", f"-c{connections}", f"-d{max(round(seconds), 1)}s", "--timeout", "60s", "--latency"]
        command = ["wrk", *times, "-s", str(script), f"http://127.0.0.1:{port}/v2/models/m/infer"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise RuntimeError(f"the server refused a request: {text}")
    answers, took = _found(r"(\d+) requests in (\S+),", text)
    return Load(int(answers), _seconds(took), *(_seconds(*_found(rf"\n +{part}%\s+(\S+)", text)) for part in (50, 99)))


def _found(pattern: str, text: str) -> tuple[str, ...]:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"wrk says something else than expected: {text}")
    return found.groups()


def _seconds(text: str) -> float:
    number, unit = _found(r"([\d.]+)([a-z]+)", text)
    return float(number) * _UNITS[unit]


async def _by_asyncio(port: int, request: bytes, connections: int, seconds: float) -> np.ndarray:
    """Seconds of each request."""
    found: list[float] = []
    end = time.perf_counter() + seconds

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (begin := time.perf_counter()) < end:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError("the server refused a request")
            size = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(size)
            found.append(time.perf_counter() - begin)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(connections)))
    return np.array(found)
