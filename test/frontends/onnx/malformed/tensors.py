"""Malformed models whose tensors are wrong, in the file and beside it."""

from __future__ import annotations

import onnx
from malformed.one_rule import FLOAT, malformed, model, node, simple, tensor
from onnx import TensorProto

# Tensors

tensor("tensor_negative_dims", r"initializer 'w': dims \[-4\] are negative", data_type=FLOAT, dims=[-4])
tensor("tensor_of_unknown_type", "initializer 'w': element type 77 does not exist", data_type=77, dims=[4], raw_data=bytes(16))
tensor("tensor_of_undefined_type", "initializer 'w': element type 0 does not exist", dims=[4], raw_data=bytes(16))
tensor("tensor_raw_too_short", "has 7 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=bytes(7))
tensor("tensor_raw_too_long", "has 32 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=bytes(32))
tensor("tensor_raw_empty", "has 0 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=b"")
tensor("tensor_typed_too_short", "has 2 numbers in float_data but its dims .* need 4", data_type=FLOAT, dims=[4], float_data=[1, 2])
tensor("tensor_typed_too_long", "has 6 numbers in float_data but its dims .* need 4", data_type=FLOAT, dims=[4], float_data=[1] * 6)
tensor("tensor_in_wrong_field", "has 0 numbers in float_data", data_type=FLOAT, dims=[4], int32_data=[1] * 4)
tensor(
    "tensor_data_twice",
    "has data twice, in raw_data and in float_data",
    data_type=FLOAT,
    dims=[1],
    raw_data=bytes(4),
    float_data=[1],
)
tensor("tensor_without_data", "has 0 numbers in float_data", data_type=FLOAT, dims=[4])
tensor("tensor_too_many_elements", "more than any machine can address", data_type=FLOAT, dims=[2**40, 2**40])
tensor("tensor_huge_dim", "more than any machine can address", data_type=FLOAT, dims=[2**62], raw_data=bytes(4))
tensor("tensor_dims_overflow", "more than any machine can address", data_type=FLOAT, dims=[2**32, 2**32], raw_data=b"")
tensor(
    "tensor_int4_too_short", "has 1 bytes of data but its dims .* need 2", data_type=TensorProto.INT4, dims=[4], raw_data=bytes(1)
)
tensor(
    "tensor_float6_too_short",
    "has 2 bytes of data but its dims .* need 3",
    data_type=TensorProto.FLOAT6E2M3,
    dims=[4],
    raw_data=bytes(2),
)
tensor("tensor_bool_too_long", "has 5 bytes of data", data_type=TensorProto.BOOL, dims=[4], raw_data=bytes(5))
tensor("tensor_strings_too_few", "has 1 numbers in string_data", data_type=TensorProto.STRING, dims=[4], string_data=[b"a"])
simple(
    "attribute_tensor_too_short",
    "attribute 'value': has 3 bytes",
    [node("Constant", [], ["c"], value=TensorProto(data_type=FLOAT, dims=[4], raw_data=bytes(3))), node("Add", ["x", "c"])],
)


def external(name: str, pattern: str, **entries: str) -> None:
    """Register a model whose weight lies in a file."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        weight = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
        for key, text in entries.items():
            weight.external_data.add(key=key, value=text)
        return model([node("Add", ["x", "w"])], weight)


external("external_missing", "missing.bin|cannot read", location="missing.bin")
external("external_with_nul", "cannot read|external", location="a\0b")
external("external_that_escapes", "cannot read|external", location="../../../../etc/passwd")
external("external_absolute", "cannot read|external", location="/etc/passwd")
external("external_without_location", "cannot read|external")
external("external_offset_beyond", "cannot read|external|bytes of data", location="empty_file.onnx", offset="4096", length="16")
external("external_offset_negative", "cannot read|external|bytes of data", location="text.onnx", offset="-8", length="16")
external("external_offset_no_number", "cannot read|external", location="text.onnx", offset="eight")
external("external_too_short", "cannot read|external|bytes of data", location="text.onnx", length="4")
external("external_folder", "cannot read|external", location=".")
