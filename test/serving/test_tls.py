"""`dlc serve` over TLS: clients of both protocols, clients' certificates, and files that cannot be used."""

from __future__ import annotations

import datetime
import functools
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from served import running, small_input

import dlc
from dlc.serving.command import command
from dlc.serving.options import TlsFiles
from dlc.serving.tls import Tls

_PEM, _PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8


@dataclass(frozen=True)
class _Pair:
    """A certificate that has signed itself, and its key."""

    certificate: Path
    key: Path


def _pair(folder: Path, name: str, passphrase: bytes = b"", curve: ec.EllipticCurve | None = None) -> _Pair:
    key = ec.generate_private_key(curve or ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    found = _Pair(folder / f"{name}.pem", folder / f"{name}.key")
    found.certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(_PEM))
    lock = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    found.key.write_bytes(key.private_bytes(_PEM, _PKCS8, lock))
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> _Pair:
    return _pair(tmp_path_factory.mktemp("tls"), "server")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> _Pair:
    return _pair(tmp_path_factory.mktemp("tls"), "client")


def _files(pair: _Pair, client: _Pair | None = None) -> TlsFiles:
    return TlsFiles(str(pair.certificate), str(pair.key), str(client.certificate) if client else None)


def _http_status(address: str, server: _Pair, client: _Pair | None = None) -> int:
    context = ssl.create_default_context(cafile=str(server.certificate))
    if client:
        context.load_cert_chain(client.certificate, client.key)
    with urllib.request.urlopen(f"https://{address}/v2/health/ready", timeout=30, context=context) as answer:
        return answer.status


def _rows_over_grpc(address: str, server: _Pair, client: _Pair | None = None) -> np.ndarray:
    x = small_input()
    given = triton_grpc.InferInput("x", list(x.shape), "FP32")
    given.set_data_from_numpy(x)
    credentials = grpc.ssl_channel_credentials(
        server.certificate.read_bytes(),
        client.key.read_bytes() if client else None,
        client.certificate.read_bytes() if client else None,
    )
    with triton_grpc.InferenceServerClient(address, creds=credentials) as connection:
        return connection.infer("small", [given], client_timeout=30).as_numpy("logits")


def _on_localhost(address: str) -> str:
    return address.replace("127.0.0.1", "localhost")


def test_both_protocols(small_file: Path, pair: _Pair) -> None:
    with running([small_file], tls=_files(pair)) as server:
        assert _http_status(_on_localhost(server.http), pair) == 200
        rows = _rows_over_grpc(_on_localhost(server.grpc), pair)
        np.testing.assert_allclose(rows, dlc.load(small_file)(small_input())[0], rtol=1e-5)
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://{server.http}/v2/health/ready", timeout=30)


def test_clients_show_a_certificate(small_file: Path, pair: _Pair, client: _Pair) -> None:
    with running([small_file], tls=_files(pair, client)) as server:
        http, rpc = _on_localhost(server.http), _on_localhost(server.grpc)
        assert _http_status(http, pair, client) == 200
        assert _rows_over_grpc(rpc, pair, client).shape == (3, 5)
        for stranger in (None, pair):
            with pytest.raises((OSError, ssl.SSLError, urllib.error.URLError)):
                _http_status(http, pair, stranger)
            with pytest.raises(triton_grpc.InferenceServerException):
                _rows_over_grpc(rpc, pair, stranger)


def test_files_that_cannot_be_used(pair: _Pair, client: _Pair, tmp_path: Path) -> None:
    text, locked = tmp_path / "text.pem", _pair(tmp_path, "locked", b"secret")
    text.write_text("no certificate\n")
    rare = _pair(tmp_path, "rare", curve=ec.SECP256K1())
    wrong = {
        "no.pem: error: the certificate cannot be read: no such file": TlsFiles("no.pem", str(pair.key)),
        "the private key cannot be read": TlsFiles(str(pair.certificate), str(tmp_path)),
        "has a passphrase; write it without one": _files(locked),
        "no certificate of the private key .* values mismatch": TlsFiles(str(pair.certificate), str(client.key)),
        "text.pem: error: no certificate of": TlsFiles(str(text), str(pair.key)),
        "text.pem: error: there are no certificates in it": TlsFiles(str(pair.certificate), str(pair.key), str(text)),
        "rare.pem: error: gRPC has no TLS with this certificate's key": _files(rare),
    }
    for message, files in wrong.items():
        with pytest.raises(dlc.RuntimeLoadError, match=message):
            Tls.of(files)


def test_command(small_file: Path, pair: _Pair) -> None:
    run = functools.partial(CliRunner().invoke, command)
    done = run([str(small_file), f"--tls-cert={pair.certificate}"])
    assert done.exit_code == 2 and "TLS needs both --tls-cert and --tls-key." in done.output
    done = run([str(small_file), "--tls-cert=no.pem", f"--tls-key={pair.key}"])
    assert isinstance(done.exception, dlc.RuntimeLoadError) and "no.pem: error: the certificate" in str(done.exception)
