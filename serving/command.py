"""The command `dlc serve`, which the package dlc_runtime has, too: `python -m dlc_runtime.serving`."""

from __future__ import annotations

import importlib.util

import click

from ..errors import RuntimeLoadError
from .number_range import NumberRange
from .options import BatchOptions, ServeOptions, TlsFiles

_NEEDED = ("httptools", "grpc", "google.protobuf", "prometheus_client")
_PACKAGE = (__package__ or "").split(".")[0].replace("_", "-")
_LONGEST = 1e6
"""Of all times, in their units."""
_MOST_MIB = 2047
"""gRPC's sizes are numbers of 32 bits."""
_MOST_THREADS, _MOST_WAITING = 4096, 1 << 20
_PORT = click.IntRange(0, 65535)


@click.command("serve")
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]ENGINE|FOLDER...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--http-port", type=_PORT, default=8000, show_default=True, help="Port of HTTP; 0 for a free one.")
@click.option("--grpc-port", type=_PORT, default=8001, show_default=True, help="Port of gRPC; 0 for a free one.")
@click.option(
    "--max-batch", type=click.IntRange(1, _MOST_WAITING), default=1, show_default=True, help="Most rows that run as one call."
)
@click.option(
    "--max-delay", type=NumberRange(0, _LONGEST), default=0, show_default=True, help="Milliseconds that a request waits for others."
)
@click.option(
    "--max-queue",
    type=click.IntRange(1, _MOST_WAITING),
    default=1024,
    show_default=True,
    help="Most requests that wait for a model.",
)
@click.option("--max-request", type=click.IntRange(1, _MOST_MIB), default=64, show_default=True, help="Most MiB of a request.")
@click.option(
    "--timeout",
    type=NumberRange(0, _LONGEST, min_open=True),
    default=60,
    show_default=True,
    help="Seconds that a request may take.",
)
@click.option(
    "--grace", type=NumberRange(0, _LONGEST), default=30, show_default=True, help="Seconds to answer the last requests in."
)
@click.option(
    "--poll", type=NumberRange(0, _LONGEST), default=1, show_default=True, help="Seconds between looks for changed files; 0: none."
)
@click.option("--num-threads", type=click.IntRange(1, _MOST_THREADS), help="Threads of a call; all processors by default.")
@click.option("--verify-key", metavar="FILE", help="Public key (Ed25519, PEM) by which all engines must be signed.")
@click.option("--tls-cert", metavar="FILE", help="Certificate (PEM, with its chain): both ports talk TLS alone.")
@click.option("--tls-key", metavar="FILE", help="Private key (PEM) of --tls-cert.")
@click.option("--tls-client-ca", metavar="FILE", help="Certificates (PEM) that must have signed clients' ones.")
@click.option("--in-memory", is_flag=True, help="Read files instead of mapping them, so that they may be overwritten in place.")
def command(
    models: tuple[str, ...],
    host: str,
    http_port: int,
    grpc_port: int,
    max_batch: int,
    max_delay: float,
    max_queue: int,
    max_request: int,
    timeout: float,
    grace: float,
    poll: float,
    num_threads: int | None,
    verify_key: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    tls_client_ca: str | None,
    in_memory: bool,
) -> None:
    """Serve engine files by the Open Inference Protocol (KServe v2), over HTTP and gRPC.

    Clients of KServe and Triton work with it. /metrics has figures for Prometheus. A file that changes is loaded again: rename the
    new one over it. With --max-batch, requests run together whose models have one symbolic first dim; rows of such models must not
    depend on each other. SIGTERM ends it once all requests are answered.
    """
    missing = [name for name in _NEEDED if not _is_installed(name)]
    if missing:
        raise RuntimeLoadError(f"error: dlc serve needs {', '.join(missing)}; pip install '{_PACKAGE}[serve]'")
    from .server import serve

    batching = BatchOptions(max_batch, max_delay / 1e3, max_queue)
    options = ServeOptions(
        host,
        http_port,
        grpc_port,
        batching,
        max_request_bytes=max_request << 20,
        timeout=timeout,
        grace=grace,
        poll=poll,
        num_threads=num_threads,
        verify_key=verify_key,
        tls=_tls_files(tls_cert, tls_key, tls_client_ca),
        in_memory=in_memory,
    )
    serve(models, options, lambda line: click.echo(line))


def _tls_files(certificate: str | None, key: str | None, client_ca: str | None) -> TlsFiles | None:
    if certificate and key:
        return TlsFiles(certificate, key, client_ca)
    if certificate or key or client_ca:
        raise click.UsageError("TLS needs both --tls-cert and --tls-key.")
    return None


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package that `name` is in
        return False
