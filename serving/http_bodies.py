"""Bodies of HTTP that are compressed: those of requests within a bound, those of answers as clients take them."""

from __future__ import annotations

import zlib

from .errors import InvalidRequestError, TooLargeError
from .off_loop import off_loop

_ENCODINGS = ("identity", "gzip", "deflate")
_GZIP_OR_ZLIB, _GZIP, _ZLIB, _RAW = 32 + zlib.MAX_WBITS, 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_LEVEL = 6


async def decompressed(body: bytes, encoding: str, most: int) -> bytes:
    """`body`, which has this content encoding, of at most so many bytes. `InvalidRequestError` or `TooLargeError` says why not."""
    if encoding not in _ENCODINGS:
        raise InvalidRequestError(f"the content encoding {encoding[:60]!r} is not supported; use {', '.join(_ENCODINGS)}")
    if encoding == "identity":
        return body
    return bytes(await off_loop(len(body), _inflated, body, encoding, most))


def _inflated(body: bytes, encoding: str, most: int) -> bytes:
    is_raw = encoding == "deflate" and (not body or body[0] & 15 != zlib.DEFLATED)  # without zlib's head, as some clients send it
    stream = zlib.decompressobj(_RAW if is_raw else _GZIP_OR_ZLIB)
    try:
        found = stream.decompress(body, most + 1)
    except zlib.error as error:
        raise InvalidRequestError(f"the body cannot be read: {str(error)[:200]}") from None
    if len(found) > most:
        raise TooLargeError(f"the request has more than {most} bytes")
    if not stream.eof:
        raise InvalidRequestError("the body cannot be read: its compressed data end early")
    if stream.unused_data:
        raise InvalidRequestError(f"{len(stream.unused_data)} bytes follow the body's compressed data; compress all of it as one")
    return found


async def compressed(body: bytes, accepted: str) -> tuple[bytes, str]:
    """`body` in the first encoding of ours that the header Accept-Encoding takes, and its name; empty where it takes none."""
    taken = {name.strip().lower(): quality for name, _, quality in (each.partition(";") for each in accepted.split(","))}
    for encoding in ("deflate", "gzip"):
        if encoding in taken and taken[encoding].replace(" ", "") not in ("q=0", "q=0.0"):
            return await off_loop(len(body), _deflated, body, encoding), encoding
    return body, ""


def _deflated(body: bytes, encoding: str) -> bytes:
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP if encoding == "gzip" else _ZLIB)
    return stream.compress(body) + stream.flush()
