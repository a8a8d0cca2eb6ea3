"""Signed engines: those of the key load, whatever was changed is found, and keys that are none are refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from engine_models import checksum, small_input, written

import dlc
from dlc.engines.saving import HEADER, MAGIC, read_manifest

x = small_input()


def write_keys(folder: Path, seed: int) -> tuple[Path, Path]:
    """Files of a private key and of its public half."""
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    private, public = folder / f"{seed}.pem", folder / f"{seed}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture
def signed(model: dlc.CompiledModel, tmp_path: Path) -> tuple[Path, Path]:
    """An engine, and the key that it is signed with."""
    private, public = write_keys(tmp_path, 1)
    model.save(tmp_path / "m.dlce", sign_key=private)
    return tmp_path / "m.dlce", public


def test_a_signed_engine_loads(model: dlc.CompiledModel, signed: tuple[Path, Path]) -> None:
    file, public = signed
    for source in (file, file.read_bytes()):
        np.testing.assert_array_equal(dlc.load(source, verify_key=public)(x)[0], model(x)[0])
    np.testing.assert_array_equal(dlc.load(file)(x)[0], model(x)[0])


def test_separate_weights_are_signed(model: dlc.CompiledModel, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, 1)
    file, weights = tmp_path / "m.dlce", tmp_path / "m.weights"
    model.save(file, sign_key=private, separate_weights=True)
    np.testing.assert_array_equal(dlc.load(file, verify_key=public)(x)[0], model(x)[0])
    content = bytearray(weights.read_bytes())
    content[4100] ^= 1
    weights.write_bytes(bytes(content))
    with pytest.raises(dlc.RuntimeLoadError, match="is not what was signed: its weights have another SHA-256"):
        dlc.load(file, verify_key=public)


def test_others_are_refused(engine_file: Path, signed: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(dlc.RuntimeLoadError, match="has no signature, and verify_key asks for one; dlc compile --sign-key"):
        dlc.load(engine_file, verify_key=signed[1])
    with pytest.raises(dlc.RuntimeLoadError, match=r"is not what was signed: its signature is not one of the key '.*2\.pub'"):
        dlc.load(signed[0], verify_key=write_keys(tmp_path, 2)[1])


def changed(content: bytes, at: int, **places: Any) -> bytes:
    """The engine with another byte at `at`, and checksums that fit: those of somebody who wants it to load."""
    found = bytearray(content)
    found[at] ^= 1
    head = list(HEADER.unpack_from(found))
    head[7:9] = places.get("signature", head[7:9])
    head[6] = checksum(bytes(found[head[4] : head[4] + head[5]]))
    header = HEADER.pack(MAGIC, *head[1:])
    return header + checksum(header).to_bytes(4, "little") + bytes(found[len(header) + 4 :])


def test_changes_that_fit_their_checksums_are_found(signed: tuple[Path, Path], tmp_path: Path) -> None:
    file, public = signed
    content = file.read_bytes()
    begin = HEADER.unpack_from(content)[4]
    digit = content.index(b'"opt_level":2', begin) + len('"opt_level":')
    for source in (
        changed(content, digit),
        changed(content, len(content) - 1),
        changed(content, len(content) - 1, signature=(64, 0)),
        changed(content, len(content) - 1, signature=(3, 1 << 60)),
        changed(content, len(content) - 1, signature=(1 << 31, len(content))),
    ):
        dlc.load(source)
        with pytest.raises(dlc.RuntimeLoadError, match="is not what was signed"):
            dlc.load(written(tmp_path, source), verify_key=public)
    weights = read_manifest(content)["weights"]["offset"]
    with pytest.raises(dlc.RuntimeLoadError, match="is not what was signed: its weights"):
        dlc.load(changed(content, weights), verify_key=public)


def test_keys_that_are_none(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, 1)
    other, locked = tmp_path / "x25519.pem", tmp_path / "locked.pem"
    other.write_bytes(X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    for file, reason in (
        (other, "holds no private Ed25519 key in PEM; openssl genpkey -algorithm ed25519 makes one"),
        (public, "holds no private Ed25519 key"),
        (engine_file, "holds no private Ed25519 key"),
        (locked, "is encrypted; give one without a password"),
        (tmp_path / "none.pem", "cannot be read: No such file"),
    ):
        with pytest.raises(dlc.InvalidInputError, match=reason):
            model.save(tmp_path / "m.dlce", sign_key=file)
    assert not (tmp_path / "m.dlce").exists()
    model.save(tmp_path / "m.dlce", sign_key=private)
    with pytest.raises(dlc.InvalidInputError, match="holds no public Ed25519 key"):
        dlc.load(tmp_path / "m.dlce", verify_key=private)


def test_without_the_package_keys_are_refused(signed: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(
        dlc.InvalidInputError, match=r"keys need a package that is missing; install the package cryptography, by pip"
    ):
        dlc.load(signed[0], verify_key=signed[1])


def test_signing_is_deterministic_and_changes_nothing_else(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    private, _ = write_keys(tmp_path, 1)
    for name in ("a", "b"):
        model.save(tmp_path / name, sign_key=private)
    content = (tmp_path / "a").read_bytes()
    assert content == (tmp_path / "b").read_bytes()
    assert content[64:-64] == engine_file.read_bytes()[64:]
