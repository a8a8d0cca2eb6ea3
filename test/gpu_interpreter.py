"""Runs kernels on NumPy arrays, thread by thread, as the oracle of tests of the way to a GPU.

A module of the gpu dialect (after `gpu-kernel-outlining`) becomes Python text (`gpu_python_text.py`): a generator for each kernel,
which yields at barriers and at what the lanes of a warp do together (`gpu_warps.py`). Blocks run in a shuffled order, and so do the
threads of a block from barrier to barrier, so that a race or a missing barrier shows.
New memory holds NaN (floats) or a large number. Access outside of memory, a barrier that some threads do not reach, and launches
that no GPU would take are errors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from gpu_arithmetic import NAMES
from gpu_op_text import ELEMENT_TYPES
from gpu_python_text import FunctionText, name_of
from gpu_tensor_maps import TensorMap
from gpu_warpgroups import BlockMemory, Products, WarpgroupShape, multiply_async
from gpu_warps import WARP, AsyncCopies, matrix_row, row_of, together, vector_of

from dlc._mlir import ir

_MOST_BLOCKS = (2**31 - 1, 65535, 65535)


@dataclass
class Program:
    """The functions of a module as Python callables. `launches` notes the grid and block of each launch."""

    text: str
    seed: int = 0
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    """The `memref.global` ops of the module by name."""
    launches: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.order = random.Random(self.seed)
        self.names: dict[str, Any] = {
            "np": np,
            "_bfloat16": ml_dtypes.bfloat16,
            "_copies": lambda: AsyncCopies(self.order),
            "_products": lambda: Products(self.order),
            "_warpgroup_shape": WarpgroupShape,
            "_matrix_row": matrix_row,
            "_row_of": row_of,
            "_vector_of": vector_of,
            "_launch": self._launch,
            "_fma": _fma,
            "_rsqrt": _rsqrt,
            "_erf": _erf,
            "_new": _new,
            "_outside": _outside,
            "_shaped": _shaped,
            "_strided": _strided,
            "_tensor_map": TensorMap,
            "_globals": self.constants,
            **NAMES,
        }
        exec(compile(self.text, "<kernels>", "exec"), self.names)

    def run(self, function: str, *arguments: Any) -> list[Any]:
        """Call a function of the host on arrays, which it changes in place, and numbers; what it returns."""
        with np.errstate(all="ignore"):
            found: list[Any] = self.names[function](*arguments)
            return found

    def _launch(
        self, kernel: str, grid: Sequence[int], size: Sequence[int], shared: Sequence[Any], dynamic: int, arguments: Sequence[Any]
    ) -> None:
        grid, size = tuple(map(int, grid)), tuple(map(int, size))
        self.launches.append((kernel, grid, size))
        assert all(0 < count <= most for count, most in zip(grid, _MOST_BLOCKS, strict=True)), f"a grid of {grid}"
        assert all(size) and np.prod(size) <= 1024 and size[2] <= 64, f"a block of {size}"
        blocks = list(product(*map(range, grid)))
        self.order.shuffle(blocks)
        for block in blocks:
            memory = [BlockMemory(np.full(int(dynamic), 0x7F, np.int8)), *(_new(*one) for one in shared)]
            threads = list(product(*map(range, size)))
            threads.sort(key=lambda thread: thread[::-1])  # lanes of a warp lie along x
            self._block([self.names[kernel](block, thread, grid, size, *memory, *arguments) for thread in threads])

    def _block(self, threads: list[_Thread]) -> None:
        """Run all threads from one barrier to the next, until all are done."""
        left = set(range(len(threads)))
        while left:
            waiting = self._to_barrier(threads, left)
            assert not waiting or len(waiting) == len(left), "some threads of a block do not come to a barrier"
            left = waiting

    def _to_barrier(self, threads: list[_Thread], numbers: set[int]) -> set[int]:
        """Run the threads of `numbers`, one warp or another, as far ahead of the others as may be; those that come to a barrier."""
        warps: dict[int, dict[int, Any]] = {}
        for number in numbers:
            warps.setdefault(number // WARP, {})[number] = None
        waiting: set[int] = set()
        stopped: dict[int, dict[int, Any]] = {}
        while warps or stopped:
            self._wake(stopped, warps)
            warp = self.order.choice(list(warps))
            for _ in range(self.order.choice((1, 4, 64))):
                found = self._step(threads, warps.pop(warp)) | stopped.pop(warp, {})
                waiting |= {number for number, asked in found.items() if asked is None}
                lanes = sorted(number for number, asked in found.items() if asked is not None)
                if any(_is_wait(found[lane]) for lane in lanes):
                    stopped[warp] = {lane: found[lane] for lane in lanes}
                if not lanes or warp in stopped:
                    break
                warps[warp] = dict(zip(lanes, _collective([found[lane] for lane in lanes]), strict=True))
        return waiting

    def _wake(self, stopped: dict[int, dict[int, Any]], warps: dict[int, dict[int, Any]]) -> None:
        """Let lanes go on whose wait at an `mbarrier` is over; where no thread can go on, copies land until one can."""
        while True:
            for warp, lanes in stopped.items():
                done = [lane for lane, asked in lanes.items() if _is_wait(asked) and _is_over(asked)]
                if done and warp not in warps:
                    warps[warp] = {lane: lanes.pop(lane) and None for lane in done}
            if warps:
                return
            memory = next(asked[1] for lanes in stopped.values() for asked in lanes.values() if _is_wait(asked))
            assert memory.tensors.land(self.order), "threads wait at a barrier whose phase does not end"

    def _step(self, threads: list[_Thread], given: dict[int, Any]) -> dict[int, Any]:
        """Run the lanes of a warp to what they come to next, in any order; None for a barrier, nothing for those that are done."""
        lanes = list(given)
        self.order.shuffle(lanes)
        found = {lane: _next(threads[lane], given[lane]) for lane in lanes}
        return {lane: asked for lane, asked in found.items() if asked is not _DONE}


_Thread = Generator[Any, Any, None]
_DONE = object()


def _is_wait(asked: tuple[Any, ...]) -> bool:
    """Whether a thread, by itself, waits at an `mbarrier`."""
    return bool(asked[0] == "wait")


def _is_over(asked: tuple[Any, ...]) -> bool:
    _, memory, address, parity = asked
    return bool(memory.tensors.barrier(address).is_over(parity))


def _collective(asked: Sequence[tuple[Any, ...]]) -> list[np.ndarray]:
    """What the lanes of a warp get of what they came to."""
    if all(one[0] == "wgmma" for one in asked) and len(asked) == WARP:
        return multiply_async([one[1:] for one in asked])
    return together(asked)


def _next(thread: _Thread, given: Any) -> Any:
    """What a thread comes to next: None for a barrier, `_DONE` at its end."""
    try:
        return thread.send(given)
    except StopIteration:
        return _DONE


def program(module: ir.Module, seed: int = 0) -> Program:
    """The functions and kernels of `module`."""
    lines: list[str] = []
    for op in module.body.operations:
        if op.operation.name == "func.func":
            lines += FunctionText(op.operation).lines()
        elif op.operation.name == "gpu.module":
            for inner in op.operation.regions[0].blocks[0].operations:
                if inner.operation.name == "gpu.func":
                    lines += FunctionText(inner.operation, f"{name_of(op.operation)}_").lines()
    return Program("\n".join(lines), seed, _constants(module))


def _constants(module: ir.Module) -> dict[str, np.ndarray]:
    """The constant data of a module and of its kernels."""
    found = {}
    blocks = [module.body, *(op.regions[0].blocks[0] for op in module.body.operations if op.operation.name == "gpu.module")]
    for op in [op.operation for block in blocks for op in block.operations if op.operation.name == "memref.global"]:
        kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
        values = ir.DenseElementsAttr(op.attributes["initial_value"])
        found[name_of(op)] = np.array(values).astype(ELEMENT_TYPES[str(kind.element_type)]).reshape(kind.shape)
    return found


def _fma(a: Any, b: Any, c: Any) -> Any:
    return (
        type(a)(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))
        if isinstance(a, np.float64)
        else type(a)(float(a) * float(b) + float(c))
    )


def _rsqrt(a: Any) -> Any:
    return type(a)(1) / np.sqrt(a)


def _erf(a: Any) -> Any:
    return type(a)(math.erf(a))


def _new(shape: Sequence[int], kind: str) -> np.ndarray:
    return np.full(shape, np.nan if "float" in kind else 99, kind)


def _outside() -> None:
    raise IndexError("a subscript is negative")


def _shaped(memory: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    view = memory.reshape(shape)
    assert np.shares_memory(view, memory) or not memory.size, "a view of memory that is not contiguous"
    return view


def _strided(memory: np.ndarray, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """A view of memory without gaps; `strides` are in elements."""
    assert memory.flags.c_contiguous, "a view of memory that is not contiguous"
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    assert 0 in shape or last < memory.size, "a view outside of memory"
    return np.lib.stride_tricks.as_strided(memory, shape, [stride * memory.itemsize for stride in strides])
