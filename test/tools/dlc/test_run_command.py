"""`dlc run`: inputs, outputs, checks and their exit status."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dlc


@pytest.mark.parametrize("check", ["reference", "onnxruntime"])
def test_checks_agree(dlc_command, network: Path, check: str) -> None:
    done = dlc_command("run", network, f"--check={check}", "--dim=n=3")
    assert done.code == 0
    assert done.err == ""
    assert "f32[3, 32]" in done.out
    assert "ok" in done.out
    assert "compiled in" in done.out


def test_files_in_and_out(dlc_command, network: Path, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((2, 16)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    done = dlc_command("run", network, f"--input=x={tmp_path}/x.npy", f"--output=y={tmp_path}/y.npy", "--check=reference")
    assert done.code == 0
    weights = dlc.import_onnx(network).params
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), np.maximum(x @ weights["w"] + weights["b"], 0), rtol=1e-4, atol=1e-5)


def test_seed_and_threads_and_repeat(dlc_command, network: Path, tmp_path: Path) -> None:
    saved = []
    for options in (["--seed=7"], ["--seed=7", "--num-threads=1", "--repeat=3", "--opt-level=0"], ["--input=x=random"]):
        assert dlc_command("run", network, f"--output=y={tmp_path}/y.npy", *options).code == 0
        saved.append(np.load(tmp_path / "y.npy"))
    np.testing.assert_allclose(saved[0], saved[1], rtol=1e-5, atol=1e-6)
    assert not np.array_equal(saved[0], saved[2])


def test_shape(dlc_command, network: Path) -> None:
    done = dlc_command("run", network, "--shape=x=4x16", "--check=onnxruntime")
    assert done.code == 0
    assert "f32[4, 32]" in done.out


def test_a_difference_is_an_error(dlc_command, network: Path, tmp_path: Path, monkeypatch) -> None:
    """A model whose weights are not the ones it is compared with."""
    dlc_command("compile", network, "--emit=dl", "-o", tmp_path / "model.mlir")
    genuine = dlc.CompiledModel.__call__
    monkeypatch.setattr(dlc.CompiledModel, "__call__", lambda model, *given: [array * 1.01 for array in genuine(model, *given)])
    done = dlc_command("run", tmp_path / "model.mlir", "--check=reference")
    assert done.code == 1
    assert "DIFFERS" in done.out
    assert done.err == f"{tmp_path}/model.mlir: error: y differs from reference by more than 0.0001 relative\n"
    assert dlc_command("run", tmp_path / "model.mlir", "--check=reference", "--tolerance=0.1").code == 0


def test_names_that_markup_could_eat(dlc_command, tmp_path: Path) -> None:
    text = """func.func @f(%x: tensor<2xf32> {dl.name = "[bold]"}) -> (tensor<2xf32> {dl.name = ":smile: [/x]"}) {
      %0 = "dl.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    (tmp_path / "[a].mlir").write_text(text)
    done = dlc_command("run", tmp_path / "[a].mlir", "--check=reference")
    assert done.code == 0, done.err
    assert ":smile: [/x]" in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input=q=random"], "--input: error: the model has no input 'q' (inputs: x)"),
        (["--input=x"], "expects NAME=FILE.npy or NAME=random but got 'x'"),
        (["--input=x=missing.npy"], "missing.npy: error: No such file or directory"),
        (["--output=q=q.npy"], "--output: error: the model has no output 'q' (outputs: y)"),
        (["--dim=m=3"], "--dim: error: the model has no dynamic dim 'm' (dynamic dims: n)"),
        (["--dim=n=many"], "expects a size for 'n' but got 'many'"),
        (["--num-threads=0"], "num_threads must be a positive integer"),
        (["--target=abacus"], "unknown target 'abacus'"),
        (["--shape=q=1x2"], "'q'"),
    ],
)
def test_wrong_options(dlc_command, network: Path, options: list[str], message: str) -> None:
    done = dlc_command("run", network, *options)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done.err.lower().count("error") == 1


def test_inputs_that_are_no_arrays(dlc_command, network: Path, tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("no array")
    done = dlc_command("run", network, f"--input=x={tmp_path}/text.npy")
    assert (done.code, done.out) == (1, "")
    assert "text.npy: error: not a NumPy .npy file" in done.err
    np.save(tmp_path / "wide.npy", np.ones((1, 17), np.float32))
    done = dlc_command("run", network, f"--input=x={tmp_path}/wide.npy")
    assert done.err == "error: input 'x' expects f32[n, 16] but got f32[1, 17]; dim 1 is 17 instead of 16\n"


def test_checks_say_what_they_need(dlc_command, network: Path, tmp_path: Path) -> None:
    dlc_command("compile", network, "--emit=linalg", "-o", tmp_path / "model.mlir")
    done = dlc_command("run", tmp_path / "model.mlir", "--check=reference")
    assert (done.code, done.out) == (1, "")
    assert "is at level 'linalg'; give the model at level 'dl'" in done.err
    done = dlc_command("run", tmp_path / "model.mlir", "--check=onnxruntime")
    assert "is no ONNX model; use --check=reference" in done.err
    done = dlc_command("run", tmp_path / "model.mlir", "--shape=x=1x16")
    assert "sizes of dims need a model at level 'dl'" in done.err


def test_donated_inputs_are_checked_on_what_they_were(dlc_command, tmp_path: Path) -> None:
    cached = """func.func @f(%c: tensor<8x4xf32> {dl.name = "cache"}, %u: tensor<1x4xf32> {dl.name = "new"}, %s: tensor<1xi64>)
        -> tensor<8x4xf32> {
      %0 = "dl.add"(%c, %c) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = "dl.update_slice"(%0, %u, %s) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<8x4xf32>
      return %1 : tensor<8x4xf32>
    }"""
    (tmp_path / "cached.mlir").write_text(cached)
    assert dlc_command("run", tmp_path / "cached.mlir", "--donate=cache", "--check=reference", "--repeat=3").code == 0
    done = dlc_command("run", tmp_path / "cached.mlir", "--donate=cash")
    assert done.code == 1
    assert "the model has no input 'cash'; did you mean 'cache'?" in done.err


@pytest.mark.parametrize("words", [["run"], ["compile", "--emit=llvm"], ["compile", "--emit=schedule"], ["explain"]], ids=" ".join)
def test_the_time_of_compiling_is_bounded(dlc_command, network: Path, words: list[str]) -> None:
    done = dlc_command(*words, network, "--compile-timeout=1e-6")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"{network}: error: not compiled within 1e-06 s: ended before '")
    assert dlc_command(*words, network, "--compile-timeout=0").err.startswith("error: timeout is 0.0; give seconds, more than 0")
