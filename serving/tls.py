"""TLS: the files that a server is told, checked before it listens, for both protocols."""

from __future__ import annotations

import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grpc

from ..errors import RuntimeLoadError
from .options import TlsFiles


@dataclass(frozen=True)
class Tls:
    """What the servers of both protocols take."""

    http: ssl.SSLContext
    grpc: grpc.ServerCredentials

    @classmethod
    def of(cls, files: TlsFiles) -> Tls:
        """Of the files that options name; `RuntimeLoadError` says which of them cannot be used, and what to do."""
        chain, key = _content(files.certificate, "certificate"), _content(files.key, "private key")
        clients = _content(files.client_ca, "certificates of clients") if files.client_ca else None
        context, credentials = _context(files), grpc.ssl_server_credentials([(key, chain)], clients, clients is not None)
        _require_grpc(credentials, files.certificate)
        return cls(context, credentials)


def _content(file: str, what: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise RuntimeLoadError(f"{file}: error: the {what} cannot be read: {reason}") from None


def _context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    def password() -> str:
        raise RuntimeLoadError(f"{files.key}: error: the private key has a passphrase; write it without one (openssl pkey)")

    try:
        context.load_cert_chain(files.certificate, files.key, password)
    except ssl.SSLError as error:
        raise RuntimeLoadError(
            f"{files.certificate}: error: no certificate of the private key '{files.key}' ({_reason(error)}); give both as PEM"
        ) from None
    if files.client_ca:
        _require_clients(context, files.client_ca)
    return context


def _require_clients(context: ssl.SSLContext, file: str) -> None:
    try:
        context.load_verify_locations(file)
    except ssl.SSLError as error:
        raise RuntimeLoadError(f"{file}: error: there are no certificates in it ({_reason(error)}); give PEM files") from None
    context.verify_mode = ssl.CERT_REQUIRED


def _require_grpc(credentials: grpc.ServerCredentials, file: str) -> None:
    """Refuse keys that OpenSSL has and gRPC's own TLS has not, such as those of the curve secp256k1."""
    server = grpc.server(ThreadPoolExecutor(1))
    try:
        server.add_secure_port("127.0.0.1:0", credentials)
    except RuntimeError:
        raise RuntimeLoadError(
            f"{file}: error: gRPC has no TLS with this certificate's key; give one of RSA, P-256 or P-384"
        ) from None
    finally:
        server.stop(None)


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or "not PEM").lower().replace("_", " ")
