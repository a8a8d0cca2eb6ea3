"""What vector instructions of a CPU take: cycles until a result is there, and cycles between two starts."""

from __future__ import annotations

from dataclasses import dataclass

_DIVIDER_BITS = 256
"""A divider takes vectors of so many bits at a time (Zen 2 to 4, Skylake and later)."""


@dataclass(frozen=True)
class Instruction:
    """Timing of one instruction on vectors of the full width; 0 where nothing is stated, so that the default holds.

    `latency` is cycles from the last operand to the result, `cycles` the reciprocal throughput: cycles between the starts of two
    that do not wait for each other.
    """

    latency: float = 0.0
    cycles: float = 0.0

    def over(self, default: Instruction) -> Instruction:
        """What is stated here, and the rest of `default`."""
        return Instruction(self.latency or default.latency, self.cycles or default.cycles)


@dataclass(frozen=True)
class Instructions:
    """What is stated of a CPU's instructions by kind and element type; `Machine.instruction` fills in defaults."""

    fma_f32: Instruction = Instruction()
    fma_f64: Instruction = Instruction()
    add_f32: Instruction = Instruction()
    divide_f32: Instruction = Instruction()
    divide_f64: Instruction = Instruction()
    sqrt_f32: Instruction = Instruction()
    dot_bf16: Instruction = Instruction()
    """Adds two products of bf16 to each f32: vdpbf16ps, bfdot."""
    dot_i8: Instruction = Instruction()
    """Adds four products of u8 and i8 to each i32: vpdpbusd."""
    dot_i16: Instruction = Instruction()
    """Adds two products of i16 to each other: vpmaddwd."""
    integer_i32: Instruction = Instruction()
    """Adds, shifts or masks lanes of i32."""
    shuffle_f32: Instruction = Instruction()
    """Moves lanes anywhere by an index vector: vpermps, vpermt2ps, tbl."""
    gather_f32: Instruction = Instruction()
    load: Instruction = Instruction()
    store: Instruction = Instruction()
    """Its latency is that of a load of what was stored just before."""
    masked_store: Instruction = Instruction()


def default_instruction(name: str, fma_ports: int, vector_bits: int) -> Instruction:
    """Timing of an instruction as is common for vectors of so many bits; `fma_ports` start one multiply-add a cycle each.

    Between rows of Agner Fog's and uops.info's tables for Haswell to Zen 4. What multiplies and adds runs where multiply-adds do.
    """
    product, parts = 1.0 / max(1, fma_ports), max(1.0, vector_bits / _DIVIDER_BITS)
    lanes = max(1, vector_bits // 32)
    return {
        "fma_f32": Instruction(4.0, product),
        "fma_f64": Instruction(4.0, product),
        "add_f32": Instruction(4.0, product),
        "divide_f32": Instruction(11.0, 5.0 * parts),
        "divide_f64": Instruction(14.0, 8.0 * parts),
        "sqrt_f32": Instruction(15.0, 6.0 * parts),
        "dot_bf16": Instruction(5.0, product),
        "dot_i8": Instruction(5.0, product),
        "dot_i16": Instruction(5.0, product),
        "integer_i32": Instruction(1.0, 0.5),
        "shuffle_f32": Instruction(3.0, 1.0),
        "gather_f32": Instruction(20.0, 0.625 * lanes),
        "load": Instruction(5.0, 0.5),
        "store": Instruction(5.0, 1.0),
        "masked_store": Instruction(5.0, 1.0),
    }[name]
