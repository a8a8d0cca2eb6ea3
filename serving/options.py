"""What `dlc serve` can be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchOptions:
    """How calls of one model wait for each other."""

    max_batch: int = 1
    """Most rows that run in one call; 1 for no batching. Models must treat rows apart from each other."""
    max_delay: float = 0.0
    """Seconds that the first request of a batch may wait for others."""
    max_queue: int = 1024
    """Most requests that wait for a model; further ones are refused."""


@dataclass(frozen=True)
class TlsFiles:
    """PEM files of a server that talks TLS alone."""

    certificate: str
    """The server's, followed by those between it and one that clients know."""
    key: str
    """Its private key, without a passphrase."""
    client_ca: str | None = None
    """Certificates one of which must have signed that of each client; None asks clients for none."""


@dataclass(frozen=True)
class ServeOptions:
    """Where a server listens, and what it takes."""

    host: str = "127.0.0.1"
    http_port: int = 8000
    """0 for any free one, as for `grpc_port`."""
    grpc_port: int = 8001
    batching: BatchOptions = BatchOptions()
    max_request_bytes: int = 64 << 20
    """Most bytes of one request, after decompression."""
    timeout: float = 60.0
    """Seconds from the first bytes of a request until it is given up."""
    grace: float = 30.0
    """Seconds that requests which run have when the server is told to stop."""
    poll: float = 1.0
    """Seconds between two looks at the files of models; 0 for none."""
    num_threads: int | None = None
    """Threads of one call; None for all processors."""
    verify_key: str | None = None
    """A file with a public key by which all engines must be signed."""
    tls: TlsFiles | None = None
    """None listens without TLS."""
    in_memory: bool = False
    """Read files instead of mapping them, so that they may be overwritten in place."""
