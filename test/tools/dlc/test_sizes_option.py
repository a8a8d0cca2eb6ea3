"""`--sizes` and `--specialize`: sizes of dims, in every command that compiles."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from bench.networks import mlp
from dlc.errors import InvalidInputError
from dlc.versions.sizes import ENDLESS
from dlc.versions.spelling import read_spelled_sizes


@pytest.fixture
def network(tmp_path: Path) -> Path:
    file = tmp_path / "mlp.onnx"
    onnx.save(mlp.build(widths=(8, 16, 4), dynamic_batch=True), file)
    return file


def test_spellings() -> None:
    texts = ("a=4,b=1..64", "c=8..512:8", "d=1|2|1..8", "e=2..")
    assert read_spelled_sizes(texts) == {
        "a": 4,
        "b": range(1, 65),
        "c": range(8, 513, 8),
        "d": [1, 2, range(1, 9)],
        "e": range(2, ENDLESS),
    }


@pytest.mark.parametrize("text", ["", "a", "a=", "=3", "a=b", "a=1|", "a=1..2:0", "a=-1", "a=1,a=2", "a=1..2..3", "a=1.5"])
def test_what_is_no_spelling(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--sizes: error"):
        read_spelled_sizes([text])


def test_run_checks_a_range(dlc_command, network: Path) -> None:
    done = dlc_command("run", network, "--sizes=batch=8..64:8", "--check=reference")
    assert done.code == 0 and "f32[8, 4]" in done.out
    done = dlc_command("run", network, "--sizes=batch=8..64:8", "--dim=batch=12")
    assert (done.code, done.err) == (1, "error: input 'x': dim 0, 'batch', is 12 but must be a multiple of 8, as 8 is\n")


def test_run_counts_versions(dlc_command, network: Path) -> None:
    done = dlc_command("run", network, "--sizes=batch=2|4", "--dim=batch=4", "--repeat=3")
    assert done.code == 0
    assert "calls: 0 of the version for all sizes, 4 of 2 versions for listed sizes" in done.out
    done = dlc_command("run", network, "--specialize=1000", "--repeat=3")
    assert "hot sizes: 0 calls of 0 versions (0 built, 0 evicted, at most 16 kept), 0 waiting, 0 failed" in done.out


def test_one_size_is_static_everywhere(dlc_command, network: Path) -> None:
    for command in (["compile", "--emit=dl"], ["import"]):
        done = dlc_command(command[0], network, "--sizes=batch=4", *command[1:])
        assert done.code == 0 and "tensor<4x8xf32>" in done.out
    assert dlc_command("coverage", network, "--sizes=batch=4").code == 0
    assert "f32[4, 4]" in dlc_command("run", network, "--sizes=batch=4", "--check=onnxruntime").out


def test_a_file_holds_one_version(dlc_command, network: Path) -> None:
    for command in ("compile", "import"):
        done = dlc_command(command, network, "--sizes=batch=4|8")
        assert done.code == 1
        assert "--sizes: error: a file holds one version; give 'batch' one size or a range" in done.err
    assert "dl.bounds = {batch = array<i64: 1, 64, 1>}" in dlc_command("import", network, "--sizes=batch=1..64").out


def test_explain_says_what_is_asked_for(dlc_command, network: Path) -> None:
    done = dlc_command("explain", network, "--json", "--sizes=batch=2|1..8", "--specialize=auto")
    notes = json.loads(done.out)["notes"]
    assert notes == [
        "dim 'batch' is 1..8: passes may count on it, and each call checks it once",
        "dim 'batch' has versions of its own for 2; what is told here is that for all other sizes",
        "sizes of 100 calls get a version of their own, compiled in the background; 16 of them are kept",
    ]


@pytest.mark.parametrize(
    "options, message",
    [
        (["--sizes=bach=3"], "shapes: the model has no input and no dim 'bach'; did you mean 'batch'?"),
        (["--sizes=x=3"], "shapes: input 'x' takes a list of sizes, not 3"),
        (["--specialize=fast"], "specialize is 'fast'; give auto, off, or a number of calls from 1 on"),
    ],
)
@pytest.mark.parametrize("command", ["run", "explain", "bench"])
def test_wrong_options(dlc_command, network: Path, command: str, options: list[str], message: str) -> None:
    done = dlc_command(command, network, *options)
    assert done.code == 1 and message in done.err and "Traceback" not in done.err


@pytest.mark.slow
def test_bench_takes_sizes(dlc_command, network: Path) -> None:
    for options in (["--sizes=batch=4"], ["--sizes=batch=1..8", "--specialize=auto"]):
        done = dlc_command("bench", network, "--rounds=3", "--seconds=0.2", *options)
        assert done.code == 0, done.err
