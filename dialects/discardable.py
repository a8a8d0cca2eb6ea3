"""Discardable attributes: what passes tell each other beside the ops. One table, which `docs/generated/attributes.md` is made from.

The page adds who reads each, from the sources; a name in the sources that has no row makes it fail.
"""

from __future__ import annotations

from dataclasses import dataclass

_LOOPS = "lowering/affine/ir/loops.py"
_SCHEDULE = "lowering/affine/schedule/given_tiles.py"
_BIND = "lowering/dl/weights/bind_params.py"
_GRAPH = "dialects/dl/graph.py"


@dataclass(frozen=True)
class DiscardableAttribute:
    """A row: what carries the attribute, its MLIR type, what it says, and the files that write it."""

    name: str
    carrier: str
    kind: str
    meaning: str
    writers: tuple[str, ...]


ATTRIBUTES = (
    DiscardableAttribute("dl.name", "argument or result", "string", "the model's name of an input or output", (_GRAPH,)),
    DiscardableAttribute(
        "dl.dims", "argument or result", "array of strings", "names of its sizes", (_GRAPH, "lowering/dl/dim_marks.py")
    ),
    DiscardableAttribute(
        "dl.param", "argument", "string", "key of the weight that it is", (_BIND, "lowering/dl/weights/precompute.py")
    ),
    DiscardableAttribute(
        "dl.bounds",
        "func.func",
        "dictionary",
        "by names of `dl.dims`: the least size, the most (-1: any), what it is a multiple of",
        ("analysis/dim_bounds.py",),
    ),
    DiscardableAttribute(
        "dl.usual",
        "func.func",
        "dictionary",
        "by names of `dl.dims`: about what a size is in most calls, for estimates",
        ("analysis/dim_bounds.py",),
    ),
    DiscardableAttribute(
        "dl.collapsible",
        "argument",
        "array of integers",
        "axes of the buffer along which a step is as far as a whole row of the next one",
        ("lowering/linalg/mark_collapsible_axes.py",),
    ),
    DiscardableAttribute("dl.params", "module", "string", "file of the weights, beside the module's", ("dlc/sources.py",)),
    DiscardableAttribute("dl.signature", "module", "dictionary", "entry, inputs, outputs and params of the model", (_BIND,)),
    DiscardableAttribute(
        "dl.precompute", "func.func", "unit", "computes weights once, before any call", ("lowering/dl/weights/precompute.py",)
    ),
    DiscardableAttribute(
        "dl.body", "func.func", "unit", "holds what a branch or loop does", ("lowering/dl/control/outline_bodies.py",)
    ),
    DiscardableAttribute("dl.precision", "module", "string", "least precision of products", ("dlc/accuracy.py",)),
    DiscardableAttribute(
        "dl.winograd", "module", "integer", "largest tile of Winograd's products: 0, 2 or 4", ("dlc/accuracy.py",)
    ),
    DiscardableAttribute("dl.donated", "argument", "unit", "may be written and be a result's memory", ("dlc/donation.py",)),
    DiscardableAttribute(
        "dl.result", "argument", "unit", "is the memory of a result; shares none with others", ("lowering/linalg/pass_results.py",)
    ),
    DiscardableAttribute(
        "dl.profiled", "module", "array of strings", "kernels whose calls are timed", ("lowering/func/profile_calls.py",)
    ),
    DiscardableAttribute(
        "dl.apart", "func.func", "array of strings", "why edges were not fused", ("lowering/dl/fuse/fuse_kernels.py",)
    ),
    DiscardableAttribute(
        "dlc.target",
        "module",
        "dictionary",
        "the CPU that code is for (`Machine`)",
        ("targets/machine/attributes.py", "targets/units.py"),
    ),
    DiscardableAttribute(
        "dlc.policy",
        "module",
        "string",
        "fields of the policy that differ from their defaults, as JSON",
        ("lowering/policy/record.py", "targets/units.py"),
    ),
    DiscardableAttribute(
        "dlc.gpu", "module", "dictionary", "the GPU that kernels are for (`GpuMachine`)", ("targets/machine/attributes.py",)
    ),
    DiscardableAttribute(
        "dlc.on_cpu",
        "func.func",
        "string",
        "why it has no kernels for the GPU",
        ("lowering/affine_to_gpu/affine_map_to_gpu.py", "lowering/gpu_to_llvm/affine_keep_checks.py"),
    ),
    DiscardableAttribute(
        "dlc.not_fused",
        "func.func",
        "string",
        "why its attention is no single kernel",
        ("lowering/affine_to_gpu/tensor_cores/convert_attention_to_mma.py",),
    ),
    DiscardableAttribute(
        "dlc.copy",
        "gpu.memcpy",
        "string",
        "its way: `upload`, `download`, `within`, `deliver` or `argument`",
        ("lowering/gpu_to_llvm/gpu_place_copies.py",),
    ),
    DiscardableAttribute(
        "dlc.result", "gpu.memcpy", "i64", "which result of the entry is delivered", ("lowering/gpu_to_llvm/gpu_place_copies.py",)
    ),
    DiscardableAttribute(
        "dlc.checks", "func.func", "unit", "checks data and does nothing else", ("lowering/affine_to_gpu/affine_outline_checks.py",)
    ),
    DiscardableAttribute(
        "dlc.keep", "linalg op", "unit", "is not fused further in this pass", ("lowering/linalg/fuse_elementwise.py",)
    ),
    DiscardableAttribute(
        "dlc.excluded",
        "arith.select",
        "unit",
        "chooses the lowest number for scores that a mask excludes",
        ("lowering/dl_to_linalg/attention.py",),
    ),
    DiscardableAttribute(
        "dlc.nonpositive",
        "math.exp",
        "unit",
        "its operand is not above 0",
        ("lowering/dl_to_linalg/activation.py", "lowering/dl_to_linalg/norm.py"),
    ),
    DiscardableAttribute(
        "dlc.uniform",
        "op of arith",
        "unit",
        "the threads that share a row all have its result",
        ("lowering/affine_to_gpu/row_combinations.py",),
    ),
    DiscardableAttribute(
        "dlc.unit_interval", "math.log1p", "unit", "its operand is in [0, 1]", ("lowering/dl_to_linalg/activation.py",)
    ),
    DiscardableAttribute("dlc.parallel", "affine.for", "unit", "any order of its iterations gives the same result", (_LOOPS,)),
    DiscardableAttribute(
        "dlc.parallel_group",
        "affine.for",
        "integer",
        "number shared by serial loops and the parallel loop in them that may go outside",
        (_LOOPS,),
    ),
    DiscardableAttribute(
        "dlc.doacross", "affine.for", "string", "rows or columns of a nest whose rows wait for parts of those before", (_LOOPS,)
    ),
    DiscardableAttribute(
        "dlc.polyhedral",
        "func.func",
        "unit",
        "affine-polyhedral-schedule has made its loops",
        ("lowering/affine/search/polyhedral_schedule.py",),
    ),
    DiscardableAttribute(
        "dlc.name", "affine.for", "string", "what schedules call the loop", ("lowering/affine/loop_generation/loop_builder.py",)
    ),
    DiscardableAttribute(
        "dlc.nest",
        "affine.for",
        "integer",
        "number of the nest in its function",
        ("lowering/affine/schedule/assign_schedules.py", _SCHEDULE),
    ),
    DiscardableAttribute(
        "dlc.schedule",
        "affine.for",
        "dictionary",
        "the nest's schedule (`Tile`)",
        ("lowering/affine/schedule/assign_schedules.py", "lowering/affine/schedule/driver.py", _SCHEDULE),
    ),
    DiscardableAttribute(
        "dlc.steps", "func.func", "array of strings", "steps of its `dlc.Schedule`, not made yet", ("targets/schedules.py",)
    ),
    DiscardableAttribute(
        "dlc.as_written",
        "affine.for",
        "unit",
        "steps have changed the loop: of nests inside, those count that have a schedule or dlc.search",
        ("lowering/affine/schedule/kernel_loops.py",),
    ),
    DiscardableAttribute(
        "dlc.search", "affine.for", "unit", "the search chooses the nest's schedule", ("lowering/affine/schedule/driver.py",)
    ),
    DiscardableAttribute(
        "dlc.schedules", "func.func", "dictionary", "schedules of its nests by number, not placed yet", ("targets/schedules.py",)
    ),
    DiscardableAttribute(
        "dlc.generic",
        "func.func",
        "array of strings",
        "what became of nests on the generic path",
        ("lowering/affine/codegen/schedule_generic.py",),
    ),
    DiscardableAttribute(
        "dlc.optimized",
        "module",
        "unit",
        "LLVM's optimiser would make none of its loops faster",
        ("lowering/affine_to_llvm/convert_affine_to_llvm.py",),
    ),
    DiscardableAttribute(
        "dlc.fusion_refusal",
        "affine.for",
        "string",
        "why it was not fused with the nest before",
        ("lowering/affine/fuse/fuse_nests.py",),
    ),
)
"""Every attribute that dlc's own code puts on ops, and which any pass may drop without making the IR invalid."""
