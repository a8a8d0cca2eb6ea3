"""Sizes that only a call knows and that do not fit each other: one typed error with node and numbers, and life goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import dlc
from dlc.runtime.library import load_library

Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Case:
    """An op on tensors with unnamed dynamic dims, inputs that do not fit, and inputs that do.

    `bad` and `good` hold shapes of f32 arrays, or arrays. `numbers` stand in the message.
    """

    op: str
    operands: tuple[str, ...]
    result: str
    bad: tuple[object, ...]
    good: tuple[object, ...]
    numbers: tuple[int, ...]
    attributes: str = ""

    def compile(self) -> dlc.CompiledModel:
        names = [f"%a{index}" for index in range(len(self.operands))]
        arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, self.operands, strict=True))
        kinds = ", ".join(f"tensor<{kind}>" for kind in self.operands)
        return dlc.compile(f"""
            func.func @main({arguments}) -> tensor<{self.result}> {{
              %0 = "dl.{self.op}"({", ".join(names)}) {{{self.attributes}}} : ({kinds}) -> tensor<{self.result}> loc("some_node")
              return %0 : tensor<{self.result}>
            }}""")


def _arrays(given: tuple[object, ...]) -> Arrays:
    return [item if isinstance(item, np.ndarray) else np.ones(item, np.float32) for item in given]  # type: ignore[call-overload]


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _scalar(value: int) -> np.ndarray:
    return np.array(value, np.int64)


_SLICE = "axes = array<i64: 0>, steps = array<i64: 1>"
_FOUR = "?x?x?x?xf32"
_WINDOW = "strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64"
_SCATTER = ("?x?xf32", "?x?xi64", "?x?xf32")
CASES = [
    Case("add", ("?x4xf32", "?x4xf32"), "?x4xf32", ((3, 4), (5, 4)), ((3, 4), (3, 4)), (3, 5)),
    Case("add", ("?x4xf32", "3x4xf32"), "3x4xf32", ((5, 4), (3, 4)), ((1, 4), (3, 4)), (3, 5)),
    Case("where", ("?xi1", "?xf32", "?xf32"), "?xf32", (np.ones(3, bool), 3, 7), (np.ones(3, bool), 3, 1), (3, 7)),
    Case("matmul", ("?x?xf32", "?x?xf32"), "?x?xf32", ((3, 4), (6, 3)), ((3, 4), (4, 3)), (4, 6)),
    Case("matmul", ("?x3x4xf32", "?x4x3xf32"), "?x3x3xf32", ((2, 3, 4), (5, 4, 3)), ((2, 3, 4), (1, 4, 3)), (2, 5)),
    Case("concat", ("?x?xf32", "?x?xf32"), "?x?xf32", ((3, 4), (3, 5)), ((3, 4), (2, 4)), (4, 5), "axis = 0 : i64"),
    Case("concat", ("?x2xf32", "?x3xf32"), "4x5xf32", ((6, 2), (6, 3)), ((4, 2), (4, 3)), (6, 4), "axis = 1 : i64"),
    Case(
        "conv_transpose", ("1x1x?xf32", "1x2x3xf32"), "1x2x5xf32", ((1, 1, 4), (1, 2, 3)), ((1, 1, 3), (1, 2, 3)), (6, 5),
        "strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>",
    ),
    Case(
        "reshape", ("?x?xf32", "2xi64"), "?x?xf32", ((3, 4), _ints(2, 7)), ((3, 4), _ints(2, -1)), (12, 14),
        "shape = array<i64: -1, -1>",
    ),
    Case(
        "reshape", ("?x?xf32", "2xi64"), "?x?xf32", ((3, 4), _ints(-3, -4)), ((3, 4), _ints(6, 2)), (-3, -1),
        "shape = array<i64: -1, -1>",
    ),
    Case("reshape", ("?x3xf32",), "?x2xf32", ((3, 3),), ((2, 3),), (9, 8), "shape = array<i64: -1, 2>"),
    Case(
        "expand", ("?x?xf32", "2xi64"), "?x?xf32", ((3, 4), _ints(5, 4)), ((1, 4), _ints(5, 4)), (3, 5),
        "shape = array<i64: -1, -1>",
    ),
    Case("squeeze", ("?x4xf32",), "4xf32", ((3, 4),), ((1, 4),), (3, 1), "axes = array<i64: 0>"),
    Case("conv", (_FOUR, _FOUR), _FOUR, ((1, 3, 4, 4), (2, 5, 3, 3)), ((1, 3, 4, 4), (2, 3, 3, 3)), (3, 5), _WINDOW),
    Case("conv", (_FOUR, _FOUR), _FOUR, ((1, 3, 2, 4), (2, 3, 3, 3)), ((1, 3, 4, 4), (2, 3, 3, 3)), (2, 3), _WINDOW),
    Case(
        "conv_transpose", (_FOUR, _FOUR), _FOUR, ((1, 3, 4, 4), (5, 2, 3, 3)), ((1, 3, 4, 4), (3, 2, 3, 3)), (3, 5), _WINDOW,
    ),
    Case(
        "layer_norm", ("2x?xf32", "?xf32", "?xf32"), "2x?xf32", ((2, 4), 4, 3), ((2, 4), 4, 4), (4, 3),
        "axis = -1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>",
    ),
    Case("instance_norm", ("2x?x5xf32", "?xf32", "?xf32"), "2x?x5xf32", ((2, 4, 5), 3, 4), ((2, 4, 5), 4, 4), (4, 3)),
    Case(
        "attention", (_FOUR, _FOUR, _FOUR), _FOUR, ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 6, 4)),
        ((1, 2, 3, 4), (1, 1, 5, 4), (1, 1, 5, 4)), (5, 6), "operandSegmentSizes = array<i32: 1, 1, 1, 0>",
    ),
    Case(
        "rotary_embedding", (_FOUR, "?x?x?xf32", "?x?x?xf32"), _FOUR, ((1, 2, 3, 4), (1, 3, 2), (1, 5, 2)),
        ((1, 2, 3, 4), (1, 3, 2), (1, 3, 2)), (3, 5),
    ),
    Case(
        "gather_elements", ("?x?xf32", "?x?xi64"), "?x?xf32", ((3, 4), np.zeros((2, 9), np.int64)),
        ((3, 4), np.zeros((2, 3), np.int64)), (4, 9), "axis = 0 : i64",
    ),
    Case(
        "scatter_elements", _SCATTER, "?x?xf32", ((3, 4), np.zeros((3, 4), np.int64), (2, 4)),
        ((3, 4), np.zeros((2, 4), np.int64), (2, 4)), (2, 3), "axis = 0 : i64",
    ),
    Case(
        "max_pool", (_FOUR,), _FOUR, ((1, 2, 9, 4),), ((1, 2, 9, 8),), (4, 5),
        "kernel = array<i64: 5, 5>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>",
    ),
    Case("batch_norm", ("2x?x5xf32", *["?xf32"] * 4), "2x?x5xf32", ((2, 4, 5), 4, 4, 3, 4), ((2, 4, 5), 4, 4, 4, 4), (4, 3)),
    Case("gather", ("?xf32", "?xi64"), "?xf32", (0, _ints(0, 0)), (2, _ints(0, 1)), (0, 1), "axis = 0 : i64"),
    # A declared size that only values tell.
    Case(
        "compress", ("3x2xf32", "3xi1"), "2x2xf32", ((3, 2), np.zeros(3, np.bool_)), ((3, 2), np.arange(3) > 0), (0, 2),
        "axis = 0 : i64",
    ),
    Case("range", ("i64",) * 3, "2xi64", (_scalar(0), _scalar(5), _scalar(1)), (_scalar(0), _scalar(2), _scalar(1)), (5, 2)),
    Case("slice", ("6xf32", "2xi64"), "4xf32", (6, _ints(0, 3)), (6, _ints(0, 4)), (3, 4), _SLICE),
    Case("expand", ("1xf32", "1xi64"), "4xf32", (1, _ints(3)), (1, _ints(4)), (3, 4), "shape = array<i64: -1>"),
    Case("expand", ("?xf32", "1xi64"), "4xf32", (1, _ints(1)), (4, _ints(1)), (1, 4), "shape = array<i64: -1>"),
    Case("reshape", ("?xf32", "2xi64"), "3x4xf32", (12, _ints(4, 3)), (12, _ints(-1, 4)), (4, 3), "shape = array<i64: -1, -1>"),
]  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.op}-{index}") for index, case in enumerate(CASES)])
def test_unfit_sizes_are_one_error(case: Case) -> None:
    model = case.compile()
    expected = [np.array(array) for array in model(_arrays(case.good))]
    live = load_library().memory_live()
    for _ in range(3):
        with pytest.raises(dlc.InvalidInputError) as caught:
            model(_arrays(case.bad))
        text = str(caught.value)
        assert text.startswith(f"'dl.{case.op}' at node 'some_node': ")
        assert "\n" not in text
        assert all(str(number) in text for number in case.numbers), text
    assert load_library().memory_live() == live
    for got, want in zip(model(_arrays(case.good)), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_declared_size_is_checked() -> None:
    model = dlc.compile("""
        func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<7xf32> {
          %0 = "dl.concat"(%a, %b) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<7xf32> loc("joined")
          return %0 : tensor<7xf32>
        }""")
    assert model(_arrays((3, 4)))[0].shape == (7,)
    with pytest.raises(dlc.InvalidInputError, match=r"'joined'.* is 8 but .* is 7"):
        model(_arrays((3, 5)))


def test_one_thread_fails_while_another_goes_on() -> None:
    model = CASES[3].compile()
    good, bad = _arrays(CASES[3].good), _arrays(CASES[3].bad)
    found: dict[str, int] = {"good": 0, "bad": 0}

    def run(name: str, call: Callable[[], bool]) -> None:
        for _ in range(300):
            found[name] += call()

    def fails() -> bool:
        with pytest.raises(dlc.InvalidInputError):
            model(bad)
        return True

    threads = [
        threading.Thread(target=run, args=("good", lambda: bool((model(good)[0] == 4).all()))),
        threading.Thread(target=run, args=("bad", fails)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"good": 300, "bad": 300}
