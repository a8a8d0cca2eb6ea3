"""`dlc compile` to engine files: their names, targets, weights, and what is refused before anything is compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from onnx import TensorProto, helper

import dlc

x = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)


@pytest.mark.parametrize("arguments", [("-o", "m.dlce"), ("--emit=engine",), ("--emit=engine", "-o", "other.name")])
def test_an_engine_is_asked_for_by_its_name_or_by_emit(
    dlc_command, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = dlc_command("compile", network, *arguments)
    assert (done.code, done.out, done.err) == (0, "", "")
    file = tmp_path / (arguments[-1] if "-o" in arguments else "network.dlce")
    np.testing.assert_array_equal(dlc.load(file)(x)[0], dlc.compile(network)(x)[0])
    assert {path.name for path in tmp_path.iterdir()} == {"network.onnx", file.name}


def test_several_targets_and_separate_weights(dlc_command, network: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.dlce"
    done = dlc_command("compile", network, "-o", file, "--target", "cpu:x86-64, cpu:haswell", "--weights=separate")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "m.weights").is_file()
    engine = dlc.load(file)
    assert [variant["target"] for variant in engine.manifest["variants"]] == ["cpu:x86-64", "cpu:haswell"]
    np.testing.assert_allclose(engine(x)[0], dlc.compile(network)(x)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", ["dl", "linalg", "affine"])
def test_modules_of_each_level(dlc_command, network: Path, tmp_path: Path, level: str) -> None:
    assert dlc_command("compile", network, f"--emit={level}", "-o", tmp_path / "m.mlir").code == 0
    done = dlc_command("compile", tmp_path / "m.mlir", "-o", tmp_path / "m.dlce")
    assert (done.code, done.err) == (0, "")
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(x)[0], dlc.compile(network)(x)[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target=cpu:haswell,cpu:skylake",), "only engines hold code for several; write one with -o FILE.dlce"),
        (("--weights=separate",), "only engines and native code have weights; write an engine with -o FILE.dlce"),
        (("--sign-key=k.pem",), "only engines are signed; write one with -o FILE.dlce"),
        (("--emit=engine", "--sign-key=k.pem"), "the key 'k.pem' cannot be read"),
        (("--emit=engine", "-o", "-"), "an engine is written to a file, not to standard output"),
        (("--emit=engine", "--target=cpu:apple-m1"), "is for macOS, and engines hold code for Linux; write an object file for it"),
        (("--emit=engine", "--target=cpu,"), "unknown target ''"),
        (("-o", "nowhere/m.dlce"), "there is no folder 'nowhere'"),
    ],
)
def test_refused(dlc_command, network: Path, tmp_path: Path, monkeypatch, arguments: tuple[str, ...], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = dlc_command("compile", network, *arguments)
    assert done.code == 1
    assert message in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["network.onnx"]


def test_models_without_one_code_say_what_to_do(dlc_command, tmp_path: Path) -> None:
    infos = [helper.make_tensor_value_info(*each) for each in (("x", TensorProto.FLOAT, [2, 3]), ("axes", TensorProto.INT64, [1]))]
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    graph = helper.make_graph([node], "sums", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    file = tmp_path / "sums.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), file)
    done = dlc_command("compile", file, "-o", tmp_path / "m.dlce")
    assert done.code == 1
    assert "axes" in done.err
    assert "--value" in done.err
    assert dlc_command("compile", file, "-o", tmp_path / "m.dlce", "--value", "axes=0").code == 0
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(np.ones((2, 3), np.float32))[0], [[2, 2, 2]])


def test_signed(dlc_command, network: Path, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    (tmp_path / "k.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "k.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    done = dlc_command("compile", network, "-o", tmp_path / "m.dlce", "--sign-key", tmp_path / "k.pem")
    assert (done.code, done.err) == (0, "")
    dlc.load(tmp_path / "m.dlce", verify_key=tmp_path / "k.pub")


def test_run_an_engine(dlc_command, network: Path, tmp_path: Path) -> None:
    assert dlc_command("compile", network, "-o", tmp_path / "m.dlce").code == 0
    names = [spec.name for spec in dlc.load(tmp_path / "m.dlce").outputs]
    for model, file in ((network, "compiled.npy"), (tmp_path / "m.dlce", "loaded.npy")):
        done = dlc_command("run", model, "--seed", "3", "--output", f"{names[0]}={tmp_path / file}")
        assert (done.code, done.err) == (0, "")
    assert "loaded code for cpu in" in done.out
    np.testing.assert_array_equal(np.load(tmp_path / "loaded.npy"), np.load(tmp_path / "compiled.npy"))


@pytest.mark.parametrize("option", [["--check", "reference"], ["--winograd", "4"], ["--target", "cpu:haswell"]])
def test_engines_take_no_options_of_compiling(dlc_command, network: Path, tmp_path: Path, option: list[str]) -> None:
    assert dlc_command("compile", network, "-o", tmp_path / "m.dlce").code == 0
    done = dlc_command("run", tmp_path / "m.dlce", *option)
    assert done.code == 1
    assert f"m.dlce: error: an engine is compiled already, and takes no {option[0]}; give it to the dlc compile" in done.err


@pytest.mark.parametrize("command", ["compile", "coverage", "explain"])
def test_engines_are_no_models(dlc_command, network: Path, tmp_path: Path, command: str) -> None:
    assert dlc_command("compile", network, "-o", tmp_path / "m.dlce").code == 0
    done = dlc_command(command, tmp_path / "m.dlce")
    assert done.code == 1
    assert "it is an engine, which is compiled already; dlc run and dlc.load run it" in done.out + done.err
