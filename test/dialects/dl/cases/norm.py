"""Normalisations: axes, absent weights, groups, odd sizes, large values."""

from case import Case, spec

_F32 = ("f32",)
_LOW = ("f32", "f16")

CASES = [
    Case("softmax", ((3, 17),)),
    Case("softmax", ((2, 3, 4),), {"axis": 1}, _LOW),
    Case("softmax", ((2, 3, 4),), {"axis": -3}, _F32),
    Case("softmax", (spec((4, 33), -80, 80),), {"axis": 1}, _LOW),
    Case("softmax", ((7,),), {}, _F32),
    Case("softmax", ((2, 1),), {}, _F32),
    Case("softmax", ((0, 3),), {}, _F32),
    Case("log_softmax", ((3, 17),), {}, None, atol={"f16": 4e-3, "bf16": 3e-2}),
    Case("log_softmax", ((2, 5, 3),), {"axis": 1}, _F32),
    Case("log_softmax", (spec((4, 9), -100, 100),), {}, _F32),
    Case("batch_norm", ((2, 3, 4, 5), (3,), (3,), (3,), spec((3,), 0.1, 2))),
    Case("batch_norm", ((4, 3), (3,), (3,), (3,), spec((3,), 0.1, 2)), {"epsilon": 1e-3}, _F32),
    Case("batch_norm", ((1, 1, 7), (1,), (1,), (1,), spec((1,), 0.1, 2)), {}, _F32),
    Case("layer_norm", ((3, 4, 19), (19,), (19,))),
    Case("layer_norm", ((3, 4, 5), (4, 5), None), {"axis": 1, "epsilon": 1e-3}, _LOW),
    Case("layer_norm", ((3, 4, 5), None, (5,)), {}, _F32),
    Case("layer_norm", ((2, 6), None, None), {"axis": 0}, _F32),
    Case("layer_norm", (spec((2, 3, 32), 500, 501), (32,), (32,)), {}, _F32, "far-from-zero", rtol={"f32": 1e-3}),
    Case("layer_norm", ((0, 6), (6,), (6,)), {}, _F32),
    Case("rms_norm", ((3, 4, 19), (19,))),
    Case("rms_norm", ((3, 4, 5), None), {"axis": -2, "epsilon": 1e-2}, _LOW),
    Case("rms_norm", ((1, 1), (1,)), {}, _F32),
    Case("instance_norm", ((2, 3, 4, 5), (3,), (3,))),
    Case("instance_norm", ((1, 2, 9), (2,), (2,)), {"epsilon": 1e-2}, _F32),
    Case("group_norm", ((2, 6, 4, 5), (6,), (6,)), {"num_groups": 3}),
    Case("group_norm", ((2, 4, 7), (4,), (4,)), {"num_groups": 1}, _F32),
    Case("group_norm", ((3, 4), (4,), (4,)), {"num_groups": 2, "epsilon": 1e-2}, _F32),
    Case("lrn", ((2, 7, 3, 4),), {"size": 5, "alpha": 0.1, "beta": 0.75, "bias": 2.0}),
    Case("lrn", ((1, 4, 5),), {"size": 4}, _F32),
    Case("lrn", ((1, 4, 5),), {"size": 3, "axis": -1}, _F32),
    Case("lrn", ((2, 3),), {"size": 1, "alpha": 1.0, "beta": 0.5}, _F32),
]
