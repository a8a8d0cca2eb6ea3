"""Windows over padded buffers through affine-tile-windows and the JIT, compared with NumPy; buffers end at guard pages."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import guard_pages
import numpy as np
import pytest
from guard_pages import SUPPORTED
from hypothesis import given
from hypothesis import strategies as st
from test_codegen import FAST, NUMPY, run, values

from dlc.targets.machine import Machine

PASSES = ("affine-tile-windows", "canonicalize", "cse")
START = {"conv": 3, "sum": 0, "max": -100}


@dataclass(frozen=True)
class Case:
    """A depthwise convolution, sum or maximum over two spatial axes."""

    kind: str
    element: str
    channels: int
    size: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]
    channels_last: bool
    cut: tuple[int, int] = (0, 0)
    """Columns of the image before and after those that are copied."""

    @property
    def given(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self.size[0], self.size[1] + sum(self.cut)

    @property
    def padded(self) -> list[int]:
        return [size + 2 * pad for size, pad in zip(self.size, self.pads, strict=True)]

    @property
    def reach(self) -> list[int]:
        return [dilation * (taps - 1) + 1 for taps, dilation in zip(self.kernel, self.dilations, strict=True)]

    @property
    def outputs(self) -> list[int]:
        return [(size - reach) // stride + 1 for size, reach, stride in zip(self.padded, self.reach, self.strides, strict=True)]

    def image(self, spatial: list[int] | tuple[int, int]) -> tuple[int, ...]:
        return (*spatial, self.channels) if self.channels_last else (self.channels, *spatial)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    def pair(least: int, most: int) -> st.SearchStrategy[tuple[int, int]]:
        return st.tuples(st.integers(least, most), st.integers(least, most))

    kernel, dilations, pads = draw(pair(1, 5)), draw(pair(1, 2)), draw(pair(0, 3))
    least = [max(1, dilation * (taps - 1) + 1 - 2 * pad) for taps, dilation, pad in zip(kernel, dilations, pads, strict=True)]
    size = (least[0] + draw(st.integers(0, 20)), least[1] + draw(st.sampled_from([0, 1, 6, 15, 16, 31, 40])))
    return Case(
        kind=draw(st.sampled_from(["conv", "sum", "max"])),
        element=draw(st.sampled_from(["f32", "f32", "f64", "i32"])),
        channels=draw(st.sampled_from([1, 3, 16, 17, 32, 40])),
        size=size,
        kernel=kernel,
        strides=draw(pair(1, 3)),
        dilations=dilations,
        pads=pads,
        channels_last=draw(st.booleans()),
        cut=draw(st.sampled_from([(0, 0), (0, 0), (0, 3), (2, 0), (1, 17)])),
    )


def _type(shape: tuple[int, ...], element: str) -> str:
    return f"memref<{'x'.join(map(str, shape))}x{element}>"


def _nest(shape: tuple[int, ...], names: str, body: str) -> str:
    opened = "".join(f"affine.for %{name} = 0 to {extent} {{\n" for name, extent in zip(names, shape, strict=True))
    return opened + body + "\n" + "} {dlc.parallel}\n" * len(shape)


def _text(case: Case) -> str:
    """A module whose @kernel pads x into a buffer of its own and slides over it."""
    element, last = case.element, case.channels_last
    suffix = "f" if element[0] == "f" else "i"
    x, p, y, w = (
        _type(shape, element)
        for shape in (case.image(case.given), case.image(case.padded), case.image(case.outputs), (*case.kernel, case.channels))
    )
    order = "hwc" if last else "chw"

    def at(h: str, w: str) -> str:
        return ", ".join({"h": h, "w": w, "c": "%c"}[axis] for axis in order)

    fill = START["max"] if case.kind == "max" else 0
    number = "{}.0".format if suffix == "f" else "{}".format
    here, moved = at("%h", "%w"), at(f"%h + {case.pads[0]}", f"%w + {case.pads[1]}")
    taps = [
        f"%{name} * {stride} + %{tap} * {dilation}"
        for name, tap, stride, dilation in zip("hw", "ij", case.strides, case.dilations, strict=True)
    ]
    combine = {
        "conv": f"""%k = affine.load %kernel[%i, %j, %c] : {w}
          %m = arith.mul{suffix} %e, %k : {element}
          %s = arith.add{suffix} %b, %m : {element}""",
        "sum": f"%s = arith.add{suffix} %b, %e : {element}",
        "max": f"%s = arith.max{'imumf' if suffix == 'f' else 'si'} %b, %e : {element}",
    }[case.kind]
    window = f"""
      %r = affine.for %i = 0 to {case.kernel[0]} iter_args(%a = %start) -> ({element}) {{
        %q = affine.for %j = 0 to {case.kernel[1]} iter_args(%b = %a) -> ({element}) {{
          %e = affine.load %p[{at(*taps)}] : {p}
          {combine}
          affine.yield %s : {element}
        }}
        affine.yield %q : {element}
      }}
      affine.store %r, %y[{here}] : {y}"""
    copy = f"%e = affine.load %x[{at('%h', f'%w + {case.cut[0]}')}] : {x}\n affine.store %e, %p[{moved}] : {p}"
    arguments = ", ".join(f"%{name}: {kind} {{llvm.noalias}}" for name, kind in (("x", x), ("kernel", w), ("y", y)))
    return f"""func.func @kernel({arguments}) attributes {{llvm.emit_c_interface}} {{
      %fill = arith.constant {number(fill)} : {element}
      %start = arith.constant {number(START[case.kind])} : {element}
      %p = memref.alloc() : {p}
      {_nest(case.image(case.padded), order, f"affine.store %fill, %p[{here}] : {p}")}
      {_nest(case.image(case.size), order, copy)}
      {_nest(case.image(case.outputs), order, window)}
      memref.dealloc %p : {p}
      return
    }}"""


def _expected(case: Case, x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The result with channels last."""
    x = x if case.channels_last else np.moveaxis(x, 0, -1)
    fill = START["max"] if case.kind == "max" else 0
    padded = np.pad(
        x[:, case.cut[0] : case.cut[0] + case.size[1]], [(case.pads[0],) * 2, (case.pads[1],) * 2, (0, 0)], constant_values=fill
    )
    found = np.full((*case.outputs, case.channels), START[case.kind], x.dtype)
    for i, j in itertools.product(*(range(taps) for taps in case.kernel)):
        part = padded[i * case.dilations[0] :: case.strides[0], j * case.dilations[1] :: case.strides[1]]
        part = part[: case.outputs[0], : case.outputs[1]]
        found = np.maximum(found, part) if case.kind == "max" else found + part * (kernel[i, j] if case.kind == "conv" else 1)
    return found


def check(case: Case, make: Callable[[np.ndarray], np.ndarray] = np.array) -> str:
    """Compare the windows of `case` with NumPy, on arrays from `make`; returns the affine form."""
    x, kernel, y = (
        make(array)
        for array in (
            values(1, case.element, case.image(case.given)),
            values(2, case.element, (*case.kernel, case.channels)),
            np.zeros(case.image(case.outputs), NUMPY[case.element]),
        )
    )
    affine = run(_text(case), [x, kernel, y], PASSES)
    got = y if case.channels_last else np.moveaxis(y, 0, -1)
    np.testing.assert_array_equal(got, _expected(case, x, kernel))
    return affine


@FAST
@given(cases())
def test_windows(case: Case) -> None:
    check(case)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("stride", [1, 2])
def test_padding_is_not_copied(vector_bits: int, channels_last: bool, stride: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "vector_bits", vector_bits)
    case = Case("conv", "f32", 24, (14, 19), (3, 3), (stride, stride), (1, 1), (1, 1), channels_last)
    affine = check(case)
    assert "memref.alloc" not in affine
    assert "vector.fma" in affine


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("cut", [(0, 5), (3, 0), (20, 20)])
@pytest.mark.parametrize("kernel", [2, 3, 5])
def test_steps_of_two_over_a_part_of_each_row(cut: tuple[int, int], kernel: int) -> None:
    check(Case("conv", "f32", 3, (9, 33), (kernel, kernel), (2, 2), (1, 1), (2, 2), False, cut))


@pytest.mark.parametrize("size", [6, 35])
def test_rows_before_an_axis_of_one_element(size: int) -> None:
    """The lanes follow the last axis but one, which is contiguous all the same."""
    x, y = f"memref<3x{size}x1xf32>", f"memref<3x{size // 2}x1xf32>"
    text = f"""func.func @kernel(%x: {x}, %y: {y}) attributes {{llvm.emit_c_interface}} {{
      %zero = arith.constant 0.0 : f32
      affine.for %c = 0 to 3 {{
        affine.for %w = 0 to {size // 2} {{
          %0 = affine.for %i = 0 to 2 iter_args(%s = %zero) -> (f32) {{
            %e = affine.load %x[%c, %w * 2 + %i, 0] : {x}
            %t = arith.addf %s, %e : f32
            affine.yield %t : f32
          }}
          affine.store %0, %y[%c, %w, 0] : {y}
        }} {{dlc.parallel}}
      }} {{dlc.parallel}}
      return
    }}"""
    given, found = values(1, "f32", (3, size, 1)), np.zeros((3, size // 2, 1), np.float32)
    run(text, [given, found], PASSES)
    even = given[:, : size // 2 * 2]
    np.testing.assert_array_equal(found, even[:, ::2] + even[:, 1::2])


@pytest.mark.parametrize("batch", [1, 3])
def test_batch_of_unknown_size(batch: int) -> None:
    """Loops whose extent is not known stay loops."""
    text = """func.func @kernel(%x: memref<?x9x16xf32>, %y: memref<?x7x16xf32>, %n: memref<1xf32>)
        attributes {llvm.emit_c_interface} {
      %zero = arith.constant 0.0 : f32
      %axis = arith.constant 0 : index
      %size = memref.dim %x, %axis : memref<?x9x16xf32>
      affine.for %b = 0 to %size {
        affine.for %w = 0 to 7 {
          affine.for %c = 0 to 16 {
            %0 = affine.for %i = 0 to 3 iter_args(%s = %zero) -> (f32) {
              %e = affine.load %x[%b, %w + %i, %c] : memref<?x9x16xf32>
              %t = arith.addf %s, %e : f32
              affine.yield %t : f32
            }
            affine.store %0, %y[%b, %w, %c] : memref<?x7x16xf32>
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
      return
    }"""
    x, y = values(1, "f32", (batch, 9, 16)), np.zeros((batch, 7, 16), np.float32)
    assert "windows" in run(text, [x, y, np.zeros(1, np.float32)], PASSES)
    np.testing.assert_array_equal(y, x[:, :7] + x[:, 1:8] + x[:, 2:])


_BESIDE_GUARD_PAGES = """
import itertools
from guard_pages import EDGES, guarded
from test_windows import Case, check
for edge, last, stride, pad, kind in itertools.product(EDGES, (False, True), (1, 2), (0, 1, 2), ("conv", "max")):
    for channels, size in ((17, (5, 7)), (3, (4, 33)), (32, (6, 16))):
        case = Case(kind, "f32", channels, size, (3, 3), (stride, stride), (1, 1), (pad, pad), last)
        check(case, lambda values: guarded(values, edge))
print("done")
"""


@pytest.mark.skipif(not SUPPORTED, reason="needs mprotect as on Linux")
def test_no_access_outside_the_buffers() -> None:
    folders = [str(Path(__file__).parent), str(Path(guard_pages.__file__).parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", _BESIDE_GUARD_PAGES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr
