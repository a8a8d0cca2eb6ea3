"""Matrix products: ranks, broadcast batches, odd and empty sizes."""

from case import Case, array

_F32 = ("f32",)
_LOOSE = {"f32": 1e-4, "f16": 4e-3, "bf16": 4e-2}

CASES = [
    Case("matmul", ((5, 7), (7, 3))),
    Case("matmul", ((2, 3, 5, 4), (2, 3, 4, 6)), dtypes=("f32", "f16", "i8")),
    Case("matmul", ((64, 65), (65, 33)), dtypes=("f64", "f32", "bf16")),
    Case("matmul", ((1, 300), (300, 1)), dtypes=("f32", "f16", "bf16")),
    Case("matmul", ((4, 2, 3), (3, 5)), dtypes=_F32),
    Case("matmul", ((2, 3), (4, 3, 5)), dtypes=_F32),
    Case("matmul", ((2, 1, 3, 4), (5, 4, 2)), dtypes=_F32),
    Case("matmul", ((1, 3, 4), (5, 4, 2)), dtypes=("f32", "bf16")),
    Case("matmul", ((3, 1, 4), (1, 4, 1)), dtypes=_F32),
    Case("matmul", ((1, 1, 3), (1, 3, 2)), dtypes=_F32),
    Case("matmul", ((0, 4), (4, 3)), dtypes=_F32),
    Case("matmul", ((2, 0), (0, 3)), dtypes=("f32", "i32")),
    Case("matmul", ((0, 2, 4), (4, 3)), dtypes=_F32),
    Case("matmul", ((16, 9), (2, 9, 2000)), dtypes=("f64", "f32", "bf16", "i32")),
    Case("matmul", ((3, 9), (9, 0)), dtypes=_F32),
    Case("packed_matmul", ((5, 7), (3, 7, 4))),
    Case("packed_matmul", ((2, 3, 4), (2, 4, 16)), dtypes=("f32", "f16", "i8")),
    Case("packed_matmul", ((9, 65), (2, 65, 48)), dtypes=("f64", "f32", "bf16")),
    Case("packed_matmul", ((1, 2, 1, 30), (5, 30, 16)), dtypes=_F32),
    Case("packed_matmul", ((9, 20), (2, 20, 48)), {"columns": 81}, dtypes=("f64", "f32", "bf16", "i8")),
    Case("packed_matmul", ((2, 1, 5), (3, 5, 16)), {"columns": 33}, dtypes=_F32),
    Case("packed_matmul", ((2, 0), (2, 0, 3)), dtypes=("f32", "i32")),
    Case("packed_matmul", ((0, 2, 4), (1, 4, 3)), dtypes=_F32),
    *(Case("det", (shape,), rtol=_LOOSE, atol=_LOOSE) for shape in ((3, 3), (2, 3, 4, 4))),
    *(Case("det", (shape,), {}, _F32, rtol=_LOOSE, atol=_LOOSE) for shape in ((1, 1), (2, 9, 9), (0, 2, 2), (2, 0, 0))),
    Case("det", (array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [4.0, 1.0, 1.0]]),), {}, _F32, "rows-that-move"),
    Case("det", (array([[1.0, 2.0], [2.0, 4.0]]),), {}, _F32, "singular"),
]
