"""Random kernels of several linalg ops through fusion and the JIT, compared with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine_to_llvm.parallel.affine_outline_parallel import AffineOutlineParallel
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.session import Session
from dlc.targets.cpu.jit import build_session
from dlc.targets.signature import signature_of

PIPELINE = (
    "dl-bind-params",
    "linalg-reuse-operands",
    "linalg-bufferize-tensors",
    "linalg-pass-results",
    "canonicalize",
    "cse",
    "linalg-insert-deallocs",
    "linalg-collapse-dims",
    "convert-linalg-to-affine",
    "canonicalize",
    "cse",
    "affine-fuse-nests",
    "canonicalize",
    "cse",
)
FAST = settings(
    max_examples=examples(40), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
MANY = settings(FAST, max_examples=600)
SIZES = (1, 2, 3, 4, 5, 8, 16, 17, 33)
BINARY = {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "maxsi": np.maximum, "minsi": np.minimum}
REDUCE = {"addi": (0, np.add), "maxsi": (-(2**31), np.maximum), "minsi": (2**31 - 1, np.minimum)}


@dataclass(frozen=True)
class Tensor:
    """A value of the program: its name, the labels of its axes, and what it holds."""

    name: str
    axes: str
    array: np.ndarray


@dataclass
class Program:
    """A kernel on i32 tensors, whose results are exact, with the sizes of its axis labels."""

    sizes: dict[str, int]
    dynamic: set[str]
    inputs: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def type_of(self, axes: str) -> str:
        """The tensor type with these axes."""
        return f"tensor<{''.join(('?' if axis in self.dynamic else str(self.sizes[axis])) + 'x' for axis in axes)}i32>"

    def add_input(self, axes: str, seed: int) -> None:
        """A new argument."""
        array = np.random.default_rng(seed).integers(-9, 9, [self.sizes[axis] for axis in axes], dtype=np.int32)
        tensor = Tensor(f"%x{len(self.inputs)}", axes, array)
        self.inputs.append(tensor)
        self.values.append(tensor)

    def _destination(self, axes: str, name: str) -> str:
        sizes = ", ".join(f"%size_{axis}" for axis in axes if axis in self.dynamic)
        self.lines.append(f"{name} = tensor.empty({sizes}) : {self.type_of(axes)}")
        return name

    def _generic(self, loops: str, reduced: str, ins: Sequence[Tensor], axes: str, start: str, body: str) -> str:
        name = f"%v{len(self.values)}"
        maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in (*(value.axes for value in ins), axes)]
        kinds = ", ".join(f'"{"reduction" if loop in reduced else "parallel"}"' for loop in loops)
        types = ", ".join(self.type_of(value.axes) for value in ins)
        arguments = ", ".join(f"%a{index}: i32" for index in range(len(ins)))
        self.lines.append(
            f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}\n"
            f"  ins({', '.join(value.name for value in ins)} : {types}) outs({start} : {self.type_of(axes)}) {{\n"
            f"  ^bb0({arguments}, %o: i32):\n    {body}\n    linalg.yield %r : i32\n  }} -> {self.type_of(axes)}"
        )
        return name

    def elementwise(self, op: str, lhs: Tensor, rhs: Tensor, axes: str) -> None:
        """`op` on two values, broadcast over the axes `axes`, which hold those of both."""
        start = self._destination(axes, f"%e{len(self.values)}")
        name = self._generic(axes, "", [lhs, rhs], axes, start, f"%r = arith.{op} %a0, %a1 : i32")
        array = BINARY[op](self._spread(lhs, axes), self._spread(rhs, axes))
        self.values.append(Tensor(name, axes, np.broadcast_to(array, [self.sizes[axis] for axis in axes])))

    def _spread(self, value: Tensor, axes: str) -> np.ndarray:
        order = [value.axes.index(axis) for axis in axes if axis in value.axes]
        shape = [self.sizes[axis] if axis in value.axes else 1 for axis in axes]
        return value.array.transpose(order).reshape(shape)

    def reduce(self, op: str, value: Tensor, gone: str) -> None:
        """Reduce the axes `gone` of a value."""
        start, function = REDUCE[op]
        axes = "".join(axis for axis in value.axes if axis not in gone)
        name = self._start(axes, start)
        name = self._generic(value.axes, gone, [value], axes, name, f"%r = arith.{op} %o, %a0 : i32")
        places = tuple(value.axes.index(axis) for axis in gone)
        self.values.append(Tensor(name, axes, function.reduce(value.array, axis=places, dtype=np.int32)))

    def _start(self, axes: str, value: int) -> str:
        empty = self._destination(axes, f"%e{len(self.values)}")
        self.lines.append(f"%c{len(self.values)} = arith.constant {value} : i32")
        name = f"%f{len(self.values)}"
        kind = self.type_of(axes)
        self.lines.append(f"{name} = linalg.fill ins(%c{len(self.values)} : i32) outs({empty} : {kind}) -> {kind}")
        return name

    def contract(self, lhs: Tensor, rhs: Tensor, gone: str) -> None:
        """Sum of products over the axes `gone`."""
        loops = "".join(dict.fromkeys(lhs.axes + rhs.axes))
        axes = "".join(axis for axis in loops if axis not in gone)
        start = self._start(axes, 0)
        body = "%p = arith.muli %a0, %a1 : i32\n    %r = arith.addi %o, %p : i32"
        name = self._generic(axes + gone, gone, [lhs, rhs], axes, start, body)
        array = np.einsum(f"{lhs.axes},{rhs.axes}->{axes}", lhs.array, rhs.array, dtype=np.int32)
        self.values.append(Tensor(name, axes, array))

    def text(self, results: Sequence[Tensor]) -> str:
        """A module whose public function calls the kernel."""
        kinds = ", ".join(self.type_of(value.axes) for value in results)
        inputs = ", ".join(f"{value.name}: {self.type_of(value.axes)}" for value in self.inputs)
        given_types = ", ".join(self.type_of(value.axes) for value in self.inputs)
        sizes = [line for axis in sorted(self.dynamic) for line in self._size(axis)]
        body = "\n".join([*sizes, *self.lines])
        names = ", ".join(value.name for value in results)
        outs = ", ".join(f"%r#{index}" for index in range(len(results)))
        return f"""func.func private @kernel({inputs}) -> ({kinds}) attributes {{dl.kernel}} {{
{body}
return {names} : {kinds}
}}
func.func @main({inputs}) -> ({kinds}) {{
%r:{len(results)} = call @kernel({", ".join(value.name for value in self.inputs)}) : ({given_types}) -> ({kinds})
return {outs} : {kinds}
}}"""

    def _size(self, axis: str) -> list[str]:
        value = next(value for value in self.inputs if axis in value.axes)
        place = value.axes.index(axis)
        return [
            f"%place_{axis} = arith.constant {place} : index",
            f"%size_{axis} = tensor.dim {value.name}, %place_{axis} : {self.type_of(value.axes)}",
        ]


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, list[Tensor]]:
    """A program of a few ops, each on values that are there, and the values it returns."""
    labels = "ijk"[: draw(st.integers(1, 3))]
    size = st.sampled_from(SIZES)
    sizes = {label: draw(size) for label in labels}
    if draw(st.booleans()):
        sizes = dict.fromkeys(labels, draw(size))
    program = Program(sizes, {label for label in labels if draw(st.integers(0, 3)) == 0})
    program.add_input("".join(draw(st.permutations(labels))), draw(st.integers(0, 99)))
    program.add_input("".join(draw(st.permutations(labels)))[: draw(st.integers(1, 3))], draw(st.integers(0, 99)))
    for _ in range(draw(st.integers(2, 7))):
        _draw_op(draw, program)
    made = program.values[len(program.inputs) :]
    results = [made[-1]]
    if len(made) > 1 and draw(st.integers(0, 2)) == 0:
        results.append(draw(st.sampled_from(made[:-1])))
    return program, results


def _draw_op(draw: st.DrawFn, program: Program) -> None:
    recent = st.sampled_from(program.values[-3:])
    lhs, rhs = draw(recent), draw(st.sampled_from(program.values))
    kind = draw(st.sampled_from(["elementwise", "elementwise", "reduce", "contract"]))
    shared = [axis for axis in lhs.axes if axis in rhs.axes]
    if kind == "contract" and shared and lhs is not rhs:
        program.contract(lhs, rhs, draw(st.sampled_from(shared)))
    elif kind == "reduce" and lhs.axes:
        program.reduce(draw(st.sampled_from(sorted(REDUCE))), lhs, draw(st.sampled_from(lhs.axes)))
    else:
        axes = "".join(dict.fromkeys(lhs.axes + rhs.axes))
        order = draw(st.permutations(axes)) if draw(st.integers(0, 3)) == 0 and axes else axes
        program.elementwise(draw(st.sampled_from(sorted(BINARY))), lhs, rhs, "".join(order))


def compiled(text: str, threads: int = 1, passes: Sequence[str] = PIPELINE, work: int = 50_000) -> Session:
    """The machine code of linalg text; loops of `work` instructions leave their thread."""
    tail = ["math-expand-functions", "legalize-float-truncations", "convert-affine-to-llvm"]
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        Pipeline(list(passes)).run(module)
        outline = AffineOutlineParallel(min_work=work)
        Pipeline(["affine-tile-registers", "affine-vectorize-loops", outline, *tail]).run(module)
        return build_session(module, signature_of(module), {}, 1, threads)


def check(program: Program, results: Sequence[Tensor]) -> None:
    """Run the program with one and with two threads and compare."""
    text = program.text(results)
    inputs = [value.array for value in program.inputs]
    for threads, work in ((1, 50_000), (2, 1)):
        for found, expected in zip(compiled(text, threads, work=work)(*inputs), results, strict=True):
            np.testing.assert_array_equal(found, expected.array, err_msg=text)


@FAST
@given(programs())
def test_random_kernels(drawn: tuple[Program, list[Tensor]]) -> None:
    """Fused kernels compute what their ops say, bit by bit, on one thread and on two."""
    check(*drawn)


@pytest.mark.slow
@MANY
@given(programs())
def test_many_random_kernels(drawn: tuple[Program, list[Tensor]]) -> None:
    """The same on more kernels."""
    check(*drawn)
