"""Signatures of engines: Ed25519 (RFC 8032) of the manifest, which has the SHA-256 of everything else."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInputError, RuntimeLoadError, quoted

_PLACE = struct.Struct("<IQ")
_PLACE_AT = 44
"""In the header: bytes and offset of the signature, zeros where there is none."""
_REMEDY = "install the package cryptography, by pip install 'dlc[sign]' or 'dlc-runtime[sign]'"


def read_key(file: str | os.PathLike[str], is_private: bool) -> Any:
    """The Ed25519 key of a PEM file, as `cryptography` has it. `InvalidInputError` for anything else."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
    except ImportError:
        raise InvalidInputError(f"keys need a package that is missing; {_REMEDY}") from None
    if not isinstance(file, (str, os.PathLike)):
        raise InvalidInputError(f"a key is named by its file, not {quoted(file)}")
    kind = "private" if is_private else "public"
    try:
        content = Path(file).read_bytes()
        key = load_pem_private_key(content, None) if is_private else load_pem_public_key(content)
    except OSError as error:
        raise InvalidInputError(f"the key '{os.fspath(file)}' cannot be read: {error.strerror}") from None
    except TypeError:
        raise InvalidInputError(f"the key '{os.fspath(file)}' is encrypted; give one without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey if is_private else Ed25519PublicKey):
        remedy = "openssl genpkey -algorithm ed25519 makes one, openssl pkey -pubout its public half"
        raise InvalidInputError(f"'{os.fspath(file)}' holds no {kind} Ed25519 key in PEM; {remedy}")
    return key


def check_signature(
    name: str, file: np.ndarray, manifest: bytes, parts: Iterable[tuple[str, np.ndarray, str]], key_file: str | os.PathLike[str]
) -> None:
    """Check the bytes of an engine: `parts` are the name, the bytes and the SHA-256 of each, as the signed manifest has it.

    `RuntimeLoadError`, which calls the engine `name`, where the signature is missing, of another key, or of other bytes.
    """
    key = read_key(key_file, is_private=False)
    from cryptography.exceptions import InvalidSignature  # which is there, since the key is

    size, begin = _PLACE.unpack(file[_PLACE_AT : _PLACE_AT + _PLACE.size].tobytes())
    if not size:
        raise RuntimeLoadError(f"{name} has no signature, and verify_key asks for one; dlc compile --sign-key makes one")
    try:
        key.verify(file[begin : begin + size].tobytes(), manifest)
    except InvalidSignature:
        reason = f"its signature is not one of the key '{os.fspath(key_file)}', or it was changed"
        raise RuntimeLoadError(f"{name} is not what was signed: {reason}") from None
    for what, content, expected in parts:
        if hashlib.sha256(content.data).hexdigest() != expected:
            raise RuntimeLoadError(f"{name} is not what was signed: its {what} have another SHA-256")
