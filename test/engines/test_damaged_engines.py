"""Engine files that are none, damaged, of other versions or machines, or that lie: one clear error each, and no wrong answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_models import checksum, small_input, with_header, with_manifest, written
from engine_mutations import check_mutations, check_signed_mutations, mutated

import dlc
from dlc.engines.saving import HEADER, read_manifest

x = small_input()


@pytest.fixture(scope="module")
def content(engine_file: Path) -> bytes:
    return engine_file.read_bytes()


def refusal(source: bytes | Path) -> str:
    with pytest.raises((dlc.RuntimeLoadError, dlc.TargetError)) as error:
        dlc.load(source, verify=True)
    return str(error.value)


@pytest.mark.parametrize("size", [0, 1, 8, 63, 64, 100, 4096, 5000, -1])
def test_truncated(content: bytes, tmp_path: Path, size: int) -> None:
    cut = content[:size]
    for source in (cut, written(tmp_path, cut)):
        assert "cannot be loaded: it" in refusal(source)


def test_something_follows(content: bytes) -> None:
    assert "something was added" in refusal(content + b"\0")


def test_versions_name_both_sides(content: bytes) -> None:
    size = len(content)
    begin, text = HEADER.unpack_from(content)[4], content[HEADER.unpack_from(content)[4] :]
    newer = with_header(content, 2, begin, text)
    assert "version 2 of the format, and this runtime (1.0) reads version 1; install a newer dlc-runtime" in refusal(newer)
    older = with_header(content, 0, begin, text)
    assert "version 0 of the format, and this runtime (1.0) reads version 1; compile the model again" in refusal(older)
    assert "big-endian" in refusal(with_header(content, 1 << 24, begin, text))
    assert len(newer) == size


def test_other_runtimes_name_both_sides(content: bytes) -> None:
    for abi, remedy in ((2, "install a newer dlc-runtime"), (0, "compile the model again")):
        changed = with_manifest(content, lambda manifest, abi=abi: manifest.update(runtime=abi))  # type: ignore[misc]
        assert f"for version {abi} of the runtime, and this one has version 1; {remedy}" in refusal(changed)


def test_other_machines_name_both_sides(content: bytes) -> None:
    def of_arm(manifest: dict[str, Any]) -> None:
        manifest["variants"][0]["arch"] = "riscv64"

    def of_the_future(manifest: dict[str, Any]) -> None:
        manifest["variants"][0]["features"].append("avx4096")

    assert "which is of riscv64; this processor is of x86_64" in refusal(with_manifest(content, of_arm))
    assert "which needs avx4096; this processor is of x86_64 and lacks that" in refusal(with_manifest(content, of_the_future))
    assert "no machine" in refusal(with_manifest(content, lambda manifest: manifest.update(variants=[])))


def test_the_first_call_checks_the_weights(content: bytes, tmp_path: Path) -> None:
    weights = read_manifest(content)["weights"]
    damaged = bytearray(content)
    damaged[weights["offset"] + weights["size"] // 2] ^= 4
    engine = dlc.load(written(tmp_path, bytes(damaged)))
    for _ in range(2):
        with pytest.raises(dlc.RuntimeLoadError, match=r"the weights of .* are damaged: the checksum is wrong"):
            engine(x)
    refusal(bytes(damaged))


def _variant(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: change(manifest["variants"][0])


_LIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "code behind the file": (_variant(lambda v: v["code"].update(size=1 << 40)), "the code end at byte"),
    "code at no page": (_variant(lambda v: v["code"].update(offset=4097)), "impossible place"),
    "negative size": (_variant(lambda v: v["code"].update(size=-4096)), "negative 'size'"),
    "huge number": (_variant(lambda v: v["code"].update(size=1 << 70)), "a number is too large"),
    "fraction": (_variant(lambda v: v["code"].update(size=4096.5)), "a number has a fraction"),
    "segments": (_variant(lambda v: v["code"].update(text=v["code"]["text"] + 4096)), "segments of"),
    "huge zeros": (_variant(lambda v: v["code"].update(zero=1 << 50)), "segment 'zero'"),
    "entry": (_variant(lambda v: v["code"].update(entry=v["code"]["text"])), "entry outside"),
    "relocation in text": (_variant(lambda v: v["code"].update(relative=[[0, 0]])), "where nothing may be written"),
    "relocation out of the image": (_variant(lambda v: v["code"].update(relative=[[1 << 40, 0]])), "where nothing may be written"),
    "relocation to elsewhere": (_variant(lambda v: v["code"]["relative"][0].__setitem__(1, 1 << 40)), "outside of the code"),
    "relocation of one number": (_variant(lambda v: v["code"]["relative"][0].pop()), "no pair"),
    "import of anything": (_variant(lambda v: v["code"]["imports"].append({"name": "system", "words": []})), "calls 'system'"),
    "import in text": (_variant(lambda v: v["code"]["imports"][0].update(words=[8])), "where nothing may be written"),
    "parameter behind the weights": (_variant(lambda v: v["params"][0].update(offset=1 << 30)), "where there are no weights"),
    "parameter of no alignment": (_variant(lambda v: v["params"][0].update(offset=1)), "where there are no weights"),
    "parameter that is too large": (_variant(lambda v: v["params"][0].update(shape=[1 << 45, 1 << 45])), "without a size"),
    "parameter without a size": (_variant(lambda v: v["params"][0].update(shape=["n"])), "without a size"),
    "unknown type": (_variant(lambda v: v["params"][0].update(dtype="f31")), "element type 'f31'"),
    "negative dim": (lambda m: m["signature"]["inputs"][0].update(shape=[-5, 3]), "a dim of -5"),
    "many dims": (lambda m: m["signature"]["inputs"][0].update(shape=[1] * 33), "33 dims"),
    "weights behind the file": (lambda m: m["weights"].update(size=1 << 40), "the weights end at byte"),
    "a path that escapes": (lambda m: m["weights"].update(file="../other.weights"), "no plain name"),
    "an absolute path": (lambda m: m["weights"].update(file="/etc/passwd"), "no plain name"),
    "no signature": (lambda m: m.pop("signature"), "no 'signature'"),
    "a list for an object": (lambda m: m.update(signature=[]), "no proper 'inputs'"),
    "a text for a list": (lambda m: m.update(variants="x"), "no proper 'variants'"),
}


@pytest.mark.parametrize("lie", _LIES)
def test_lying_manifests(content: bytes, lie: str) -> None:
    change, message = _LIES[lie]
    assert message in refusal(with_manifest(content, change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "a value is missing"),
        (b"{", "a name is missing"),
        (b'{"a":1,"a":2}', "a name is there twice"),
        (b"[" * 100_000, "nested too deep"),
        (b"{" + b",".join(b'"%d":0' % number for number in range(100_000)) + b"}", "too many names"),
        (b" " * (17 << 20), "the manifest has 17825792 bytes, and there may be 16777216"),
        (b"01", "a number begins with 0"),
        (b'"abc', "a text has no end"),
        (b'"\xff"', "no UTF-8"),
        (b'"\xe4\xbd"', "no UTF-8"),
        (b'"\\u12"', "an escape is unknown"),
        (b'"\\ud800"', "no control character"),
        (b"nul", "a value is missing"),
        (b"{} x", "something follows the end"),
        (b"-", "a value is missing"),
    ],
)
def test_manifests_that_are_no_json(content: bytes, text: bytes, message: str) -> None:
    changed = with_manifest(content, lambda manifest: None, text)
    assert message in refusal(changed)


def test_mutations(content: bytes) -> None:
    assert check_mutations(content, 500, seed=0) > 300


@pytest.mark.slow
def test_many_mutations(content: bytes) -> None:
    assert check_mutations(content, 20_000, seed=1) > 12_000


def test_signed_mutations(content: bytes) -> None:
    check_signed_mutations(content, 500, seed=2)


@pytest.mark.slow
def test_many_signed_mutations(content: bytes) -> None:
    check_signed_mutations(content, 20_000, seed=3)


def test_mutations_of_separate_weights(model: dlc.CompiledModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.dlce", separate_weights=True)
    weights, expected, choice = (tmp_path / "m.weights").read_bytes(), model(x)[0], random.Random(4)
    refused = 0
    for _ in range(200):
        (tmp_path / "m.weights").write_bytes(mutated(weights + bytes(64), choice, 4096)[: len(weights)])
        try:
            np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], expected)
        except dlc.RuntimeLoadError:
            refused += 1
    assert refused > 60


def test_the_checksum_is_crc32c() -> None:
    """RFC 3720, B.4."""
    assert checksum(bytes(32)) == 0x8A9136AA
    assert checksum(b"123456789") == 0xE3069283
