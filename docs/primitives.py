"""The page of the schedule primitives: what each does, with loops before and after it, made by running its pass."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.schedule.schedule import Schedule
from dlc.lowering.affine.schedule.steps import METHODS
from dlc.lowering.pipeline import Pipeline

_NEGATE = """
func.func @negate(%A: memref<100x50xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to 50 {
      %a = affine.load %A[%i, %j] : memref<100x50xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[%i, %j] : memref<100x50xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
"""

_HALVES = """
func.func @halves(%A: memref<100xf32> {llvm.noalias}, %B: memref<100xf32> {llvm.noalias}, %C: memref<100xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<100xf32>
    %b = affine.load %B[%i] : memref<100xf32>
    affine.store %b, %C[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}
"""

_TWO_LOOPS = """
func.func @two(%A: memref<100xf32> {llvm.noalias}, %B: memref<100xf32> {llvm.noalias}, %C: memref<100xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<100xf32>
  } {dlc.name = "first"}
  affine.for %i = 0 to 100 {
    %b = affine.load %B[%i] : memref<100xf32>
    affine.store %b, %C[%i] : memref<100xf32>
  } {dlc.name = "second"}
  return
}
"""

_TRIANGLE = """
func.func @triangle(%A: memref<50x50xf32>) {
  affine.for %i = 0 to 50 {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      %a = affine.load %A[%i, %j] : memref<50x50xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[%i, %j] : memref<50x50xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
"""

_MATMUL = """
func.func @matmul(
    %A: memref<64x128xf32> {llvm.noalias}, %B: memref<128x96xf32> {llvm.noalias}, %C: memref<64x96xf32> {llvm.noalias}) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 96 {
      affine.for %k = 0 to 128 {
        %a = affine.load %A[%i, %k] : memref<64x128xf32>
        %b = affine.load %B[%k, %j] : memref<128x96xf32>
        %c = affine.load %C[%i, %j] : memref<64x96xf32>
        %x = arith.mulf %a, %b : f32
        %y = arith.addf %c, %x : f32
        affine.store %y, %C[%i, %j] : memref<64x96xf32>
      } {dlc.name = "k"}
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
"""

_BLUR = """
func.func @blur(%A: memref<34x64xf32> {llvm.noalias}, %C: memref<32x64xf32> {llvm.noalias}) {
  %rows = memref.alloc() : memref<34x64xf32>
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 64 {
      %a = affine.load %A[%i, %j] : memref<34x64xf32>
      %b = arith.addf %a, %a : f32
      affine.store %b, %rows[%i, %j] : memref<34x64xf32>
    }
  }
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 64 {
      %x = affine.load %rows[%i, %j] : memref<34x64xf32>
      %y = affine.load %rows[%i + 2, %j] : memref<34x64xf32>
      %z = arith.mulf %x, %y : f32
      affine.store %z, %C[%i, %j] : memref<32x64xf32>
    }
  } {dlc.name = "i"}
  memref.dealloc %rows : memref<34x64xf32>
  return
}
"""


@dataclass(frozen=True)
class _Example:
    """A step in the words of `Schedule`, the options of the pass that does the same, and what both are run on."""

    call: str
    options: str
    text: str


_EXAMPLES = {
    "tile": _Example('tile(["i", "j"], [32, 16])', "loops=i,j sizes=32,16", _NEGATE),
    "split": _Example('split("i", 32)', "loop=i factor=32", _NEGATE),
    "strip_mine": _Example('strip_mine("j", 16)', "loop=j size=16", _NEGATE),
    "interchange": _Example('interchange(["j", "i"])', "loops=j,i", _TRIANGLE),
    "fuse": _Example('fuse("first", "second")', "first=first second=second", _TWO_LOOPS),
    "distribute": _Example('distribute("i")', "loop=i", _HALVES),
    "skew": _Example('skew("j", "i")', "inner=j outer=i", _NEGATE),
    "peel": _Example('peel("j", 2, last=True)', "loop=j count=2 last=true", _NEGATE),
    "split_index_set": _Example('split_index_set("j", "i - 8")', "loop=j at='i - 8'", _TRIANGLE),
    "unroll": _Example('unroll("j", 4)', "loop=j factor=4", _NEGATE),
    "unroll_and_jam": _Example('unroll_and_jam("i", 2)', "loop=i factor=2", _MATMUL),
    "vectorize": _Example('vectorize("j", 16)', "loop=j width=16", _NEGATE),
    "parallelize": _Example('parallelize("i")', "loop=i", _NEGATE),
    "pack": _Example('pack("arg1", "j")', "array=arg1 loop=j", _MATMUL),
    "reverse": _Example('reverse("j")', "loop=j", _TRIANGLE),
    "shift": _Example('shift("S1", "i", 1)', "statement=S1 loop=i distance=1", _HALVES),
    "compute_at": _Example('compute_at("S0", "i")', "statements=S0 loop=i", _BLUR),
    "tile_registers": _Example(
        'tile_registers("i", "j", lanes=16, vectors=2, unroll_and_jam=["i"], factors=[4])',
        "loop=i lane_loop=j lanes=16 vectors=2 unroll_and_jam=i factors=4",
        _MATMUL,
    ),
    "search": _Example('search("i")', "loop=i", _MATMUL),
    "bind": _Example('bind("i", "block.x")', "loop=i unit=block.x", _NEGATE),
}


def primitives_page(note: str) -> Iterator[str]:
    """The page in pieces; `note` says who writes it."""
    yield f"{note}# Schedule primitives\n\n"
    yield "Each is a pass and a method of `dlc.Schedule`. Loops are named by the attribute `dlc.name`, or `S0:1`: "
    yield "the loop at depth 1 (the outermost has 0)\naround statement S0. Statements are S0, S1, ... in the order of the text. "
    yield "A step that would break a dependence is refused\nwith two iterations that would run in the wrong order.\n\n"
    yield f"```text\n{inspect.cleandoc(inspect.getmodule(Schedule).__doc__ or '')}\n```\n"
    for method, example in _EXAMPLES.items():
        yield from _section(method, example)


def _section(method: str, example: _Example) -> Iterator[str]:
    function = getattr(Schedule, method)
    yield f"\n## {method}\n\n{inspect.getdoc(function)}\n\n"
    yield f'`schedule.{example.call}`, `--{METHODS[method]}="{example.options}"`\n\n'
    before, after = _run("", example), _run(METHODS[method], example)
    yield f"```mlir\n// before\n{before}\n```\n\n```mlir\n// after\n{after}\n```\n"


def _run(name: str, example: _Example) -> str:
    """The example as it is printed after the pass (before it for none), without the module around."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(example.text)
        if name:
            Pipeline.parse(f"{name}{{{example.options}}}").run(module)
        lines = str(module).rstrip().split("\n")
    inside = [line.removeprefix("  ") for line in lines if line not in ("module {", "}")]
    return "\n".join(inside)
