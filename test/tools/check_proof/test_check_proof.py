"""`dlc-check-proof` proves what `affine-check-legality` accepted, and rejects certificates and files that were tampered with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlc._mlir import ir
from dlc.lowering.pipeline import Pipeline
from dlc.tools.check_proof import main

_MATMUL = """
func.func @f(%a: memref<12x9xf32>, %b: memref<9x10xf32>, %c: memref<12x10xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 12 {
    affine.for %j = 0 to 10 {
      affine.store %zero, %c[%i, %j] : memref<12x10xf32>
    }
  }
  affine.for %i = 0 to 12 {
    affine.for %j = 0 to 10 {
      affine.for %k = 0 to 9 {
        %0 = affine.load %a[%i, %k] : memref<12x9xf32>
        %1 = affine.load %b[%k, %j] : memref<9x10xf32>
        %2 = affine.load %c[%i, %j] : memref<12x10xf32>
        %3 = arith.mulf %0, %1 : f32
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %c[%i, %j] : memref<12x10xf32>
      }
    }
  }
  return
}
"""

_STENCIL = """
func.func @f(%n: index, %a: memref<?x16xf32>, %b: memref<?x16xf32> {llvm.noalias}) -> f32 {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 16 {
      %0 = affine.load %a[%i, 15 - %j] : memref<?x16xf32>
      %1 = affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%j) -> f32 {
        affine.yield %0 : f32
      } else {
        %2 = arith.negf %0 : f32
        affine.yield %2 : f32
      }
      affine.store %1, %b[%i, %j] : memref<?x16xf32>
    }
  }
  %sum = affine.for %i = 0 to %n iter_args(%x = %zero) -> f32 {
    %0 = affine.load %b[%i, 3] : memref<?x16xf32>
    %1 = arith.addf %x, %0 : f32
    affine.yield %1 : f32
  }
  return %sum : f32
}
"""

_PASSES = [
    "affine-loop-tile{tile-sizes=4,4,4}",
    "affine-loop-fusion",
    "affine-super-vectorize{virtual-vector-size=2}",
    "affine-loop-unroll{unroll-factor=3}",
    "affine-data-copy-generate{generate-dma=false fast-mem-space=0}",
    "affine-loop-normalize,affine-parallelize",
]


def _files(folder: Path, text: str, passes: str, options: str = "") -> tuple[Path, Path, Path]:
    """`before.mlir`, `after.mlir` and `proof.json` of passes on `text`."""
    before, after, proof = folder / "before.mlir", folder / "after.mlir", folder / "proof"
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        before.write_text(str(module))
        Pipeline.parse(f"affine-check-legality{{pass='{passes}' proof={proof} assume-non-negative {options}}}").run(module)
        after.write_text(str(module))
    return before, after, folder / "proof.json"


@pytest.mark.parametrize("passes", _PASSES)
@pytest.mark.parametrize("text", [_MATMUL, _STENCIL], ids=["matmul", "stencil"])
def test_what_was_accepted_is_proved(tmp_path: Path, text: str, passes: str, capsys: pytest.CaptureFixture[str]) -> None:
    before, after, proof = _files(tmp_path, text, passes)
    code = main([str(before), str(after), str(proof)])
    out = capsys.readouterr().out
    assert code == 0, out
    assert out in ("@f: proved\n", "nothing changed\n")


def _edit(proof: Path, change: Callable[[dict[str, Any]], None]) -> None:
    whole = json.loads(proof.read_text())
    change(whole["functions"][0])
    proof.write_text(json.dumps(whole))


def _without_a_pair(one: dict[str, Any]) -> None:
    one["relation"] = [pair for pair in one["relation"] if "result" not in pair["after"]]


def _with_all_pairs(one: dict[str, Any]) -> None:
    """Relates every product to every product."""
    for pair in one["relation"]:
        if "result" in pair["after"]:
            head, _ = pair["map"].split(" : ")
            target = head[head.index("->") :]
            pair["map"] = head.replace(target, target.replace("i", "o")) + " }"


def _with_shifted_maps(one: dict[str, Any]) -> None:
    for pair in one["relation"]:
        pair["map"] = pair["map"].replace("0 <=", "1 <=")


def _with_a_refusal(one: dict[str, Any]) -> None:
    one["verdict"] = "refused"


@pytest.mark.parametrize("change", [_without_a_pair, _with_all_pairs, _with_shifted_maps, _with_a_refusal])
def test_a_changed_certificate_is_rejected(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after, proof = _files(tmp_path, _MATMUL, _PASSES[0])
    _edit(proof, change)
    assert main([str(before), str(after), str(proof)]) == 1
    assert capsys.readouterr().out.startswith("@f: rejected: ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("affine.load %arg0[%arg", "affine.load %arg0[-%arg"),
        ("arith.mulf", "arith.divf"),
        ("step 4", "step 5"),
        ("0.000000e+00", "1.000000e+00"),
        ("affine.store %4", "affine.store %3"),
        ("memref<12x10xf32>\n    }", "memref<12x10xf32>\n    } {dlc.parallel}"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_changed_ir_is_rejected(tmp_path: Path, side: int, old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = _files(tmp_path, _MATMUL, _PASSES[0])
    text = files[side].read_text()
    if old not in text:
        pytest.skip("the text is not in this file")
    files[side].write_text(text.replace(old, new))
    assert main([str(file) for file in files]) == 1
    assert "rejected" in capsys.readouterr().out


def test_a_race_is_rejected(tmp_path: Path) -> None:
    before, after, proof = _files(tmp_path, _MATMUL, "affine-loop-normalize,affine-parallelize")
    after.write_text(after.read_text().replace("affine.for %arg5 = 0 to 9 {", "affine.parallel (%arg5) = (0) to (9) {"))
    assert main([str(before), str(after), str(proof)]) == 1


def test_an_order_of_sums_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after, proof = _files(tmp_path, _MATMUL, _PASSES[0])
    _edit(proof, lambda one: one.update(reassociated=True))
    assert main([str(before), str(after), str(proof)]) == 1
    assert "in another order" in capsys.readouterr().out


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    before, after, proof = _files(tmp_path, _MATMUL, _PASSES[0])
    proof.write_text("{")
    command = [sys.executable, "-m", "dlc.tools.check_proof", str(before), str(after), str(proof)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("dlc-check-proof: error: ") and "Traceback" not in done.stderr


_ROWS = """
func.func @f(%x: memref<16x16xf32>) {
  affine.for %r = 1 to 15 {
    affine.for %c = 1 to 15 {
      %a = affine.load %x[%r - 1, %c SHIFT] : memref<16x16xf32>
      %b = affine.load %x[%r, %c - 1] : memref<16x16xf32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %x[%r, %c] : memref<16x16xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("shift", "status"), [("+ 0", 0), ("- 1", 0), ("+ 1", 1)])
def test_rows_follow_each_other(tmp_path: Path, shift: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    """`dlc.doacross` lets a row run beside later columns of the row before."""
    before, after, proof = _files(tmp_path, _ROWS.replace("SHIFT", shift), "affine-loop-normalize")
    marked = after.read_text().replace("    }\n    }\n", '    } {dlc.doacross = "columns"}\n    } {dlc.doacross = "rows"}\n')
    assert marked.count("dlc.doacross") == 2
    after.write_text(marked)
    assert main([str(before), str(after), str(proof)]) == status
    assert ("meet in rows that run at once" in capsys.readouterr().out) == bool(status)
