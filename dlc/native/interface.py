"""What a model looks like from C: fields of its inputs and outputs, and the sizes that a call gives."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.native.names import field_names, model_name
from dlc.runtime.signature import Signature, TensorSpec

C_TYPES = {
    "f64": "double", "f32": "float", "f16": "uint16_t", "bf16": "uint16_t",
    "i64": "int64_t", "i32": "int32_t", "i16": "int16_t", "i8": "int8_t",
    "ui64": "uint64_t", "ui32": "uint32_t", "ui16": "uint16_t", "ui8": "uint8_t",
    "i1": "uint8_t", "i4": "int8_t", "i2": "int8_t",
}  # fmt: skip
"""Elements in C; those that C does not have are their bits."""
_BITS = "uint8_t"


@dataclass(frozen=True)
class CTensor:
    """An input or output. `sizes` has a number for each dim, the number of one of the call's sizes, as text, or None."""

    spec: TensorSpec
    field: str
    sizes: tuple[int | str | None, ...]

    @property
    def c_type(self) -> str:
        return C_TYPES.get(self.spec.dtype, _BITS)

    @property
    def is_static(self) -> bool:
        return all(isinstance(size, int) for size in self.sizes)

    @property
    def is_known(self) -> bool:
        """Whether a call's sizes tell this tensor's, before the call."""
        return None not in self.sizes

    @property
    def elements(self) -> int:
        """Of a static one."""
        count = 1
        for size in self.sizes:
            count *= int(size or 0)
        return count


@dataclass(frozen=True)
class CInterface:
    """`sizes` are the dims that a call chooses by their names in messages, `size_fields` the same in C."""

    name: str
    inputs: tuple[CTensor, ...]
    outputs: tuple[CTensor, ...]
    sizes: tuple[str, ...]
    size_fields: tuple[str, ...]

    @classmethod
    def of(cls, name: str, signature: Signature) -> CInterface:
        """The interface of a model called `name`; `InvalidInputError` where C has no such names."""
        sizes: list[str] = []
        shapes = [_input_sizes(spec, sizes) for spec in signature.inputs]
        fields = field_names([spec.name for spec in signature.inputs])
        size_fields = field_names([f"size_{size}" for size in sizes], fields)
        inputs = [CTensor(*each) for each in zip(signature.inputs, fields, shapes, strict=True)]
        outputs = [
            CTensor(spec, field, tuple(_known_size(dim, sizes) for dim in spec.shape))
            for spec, field in zip(signature.outputs, _output_fields(signature), strict=True)
        ]
        return cls(model_name(name), tuple(inputs), tuple(outputs), tuple(sizes), tuple(size_fields))

    @property
    def makes_memory(self) -> bool:
        """Whether a call may make memory for outputs."""
        return not all(tensor.is_known for tensor in self.outputs)


def _output_fields(signature: Signature) -> list[str]:
    """Names such that those with `_room` and `_sizes` at the end are nobody else's."""
    names = field_names([spec.name for spec in signature.outputs])
    more = {f"{name}{end}" for name in names for end in ("_room", "_sizes")}
    return [f"{name}_" if name in more else name for name in names]


def _input_sizes(spec: TensorSpec, sizes: list[str]) -> tuple[int | str | None, ...]:
    """Sizes of an input; names that are new, and dims without one, become sizes of the call."""
    shape = tuple(f"{spec.name} dim {number}" if dim is None else dim for number, dim in enumerate(spec.shape))
    sizes.extend(dict.fromkeys(dim for dim in shape if isinstance(dim, str) and dim not in sizes))
    return shape


def _known_size(dim: int | str | None, sizes: list[str]) -> int | str | None:
    return dim if isinstance(dim, int) or dim in sizes else None
