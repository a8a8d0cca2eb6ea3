"""What writers of ops as Python text share: lines, and names of values."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir

ELEMENT_TYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool_",
    "i8": "int8",
    "i16": "int16",
    "index": "int64",
    "ui8": "uint8",
    "i32": "int32",
    "i64": "int64",
}


class OpText:
    """Lines of Python, `depth` levels inside."""

    def __init__(self) -> None:
        self.found, self.numbers, self.depth = list[str](), dict[ir.Value, str](), 0

    def say(self, depth: int, text: str) -> None:
        self.found.append("    " * depth + text)

    def name(self, value: ir.Value) -> str:
        return self.numbers.setdefault(value, f"v{len(self.numbers)}")

    def set(self, op: ir.Operation, text: str) -> None:
        self.say(self.depth, f"{self.name(op.results[0])} = {text}")

    def block(self, block: ir.Block, depth: int, results: Sequence[str] = ()) -> None:
        """Write the ops of a block; what its terminator gives goes to `results`."""
        raise NotImplementedError

    def counted_loop(self, op: ir.Operation, steps: str, given: Sequence[str]) -> None:
        """Write a loop over `steps`, a range, that carries values which start as `given`."""
        body, depth = op.regions[0].blocks[0], self.depth
        variable, *carried = (self.name(argument) for argument in body.arguments)
        for name, value in zip(carried, given, strict=True):
            self.say(depth, f"{name} = {value}")
        self.say(depth, f"for {variable} in {steps}:")
        self.block(body, depth + 1, carried)
        for result, name in zip(op.results, carried, strict=True):
            self.say(depth, f"{self.name(result)} = {name}")
