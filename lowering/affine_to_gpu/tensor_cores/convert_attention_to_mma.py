"""convert-attention-to-mma: products, softmax and products of attention become one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine.ir.reductions import chain_of
from dlc.lowering.affine_to_gpu.launches import outline_launches
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import AttentionKernel, launch_attention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import NotFused, attention_of, require_elements, users_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionTile, AttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.best_attention import best_attention
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import is_free, outline_others
from dlc.lowering.affine_to_gpu.tensor_cores.softmax_nests import is_largest, softmax_of
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.outlining import symbols_in
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import GpuMachine, gpu_facts_of

NOT_FUSED = "dlc.not_fused"
"""Attribute of a function that says why its attention is no single kernel."""


@dataclass(frozen=True)
class ConvertAttentionToMma(Pass):
    """Compute attention in one kernel, on tensor cores or in f32, tile by tile of keys, without a buffer of scores.

    before: %S = memref.alloc() : memref<512x512xf32>
            affine.for %i { affine.for %j { %s = affine.for %d { Q[i, d] * K[j, d] in f32 }  store %s * scale, %S[%i, %j] } }
            affine.for %i { largest of %S[%i, ...]; exp(%S[%i, %j] - largest) in place; store their sum, %T[%i] }
            affine.for %i { affine.for %d { %r = affine.for %j { %S[%i, %j] * V[j, d] }  store %r / %T[%i], %O[%i, %d] } }
    after:  gpu.launch_func @f_kernel::@f_kernel ...
            gpu.module @f_kernel { gpu.func @f_kernel { nvgpu.device_async_copy ...  affine.for %t iter_args(...) {
              nvgpu.mma.sync ...  gpu.shuffle xor ...  nvvm.ex2 ...  nvgpu.mma.sync ... }  division and stores } }

    Elements are f16, bf16 (`mma.sync`, `wgmma`) or f32, sums f32; exponentials are rounded to the elements' type, too.
    Those of f32 are multiplied by multiply-adds, exponentials exchanged in shared memory. A block has queries of one head, or of
    all that share keys; what is done to scores and results (scale, masks, casts) is done in registers. Where the last key grows
    with the query (causal attention), blocks leave out keys that none of theirs sees, and masks of those that all see. Tiles are
    those of least cost on the GPU that the module's `dlc.gpu` describes. Nests that are something else stay as they are; a function
    with a softmax whose attention stays says why in `dlc.not_fused`."""

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, taken, found = gpu_facts_of(op), symbols_in(op), False
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if is_free(function):
                found = _convert(function, taken, facts, precision_of(op)) or found
        if found:
            outline_launches(op)


_Choice = tuple[type[AttentionKernel], AttentionTiles, AttentionTile]


def _convert(function: ir.Operation, taken: set[str], facts: GpuMachine, precision: str) -> bool:
    """Make kernels of a function's attentions; whether there are any."""
    block, chosen = function.regions[0].blocks[0], list[_Choice]()
    softmaxes = [found for op in real_ops(block) if op.name == "affine.for" and (found := softmax_of(op))]
    for softmax in softmaxes:
        with _noting_reasons(function):
            chosen.append(best_attention(attention_of(softmax, block), facts, precision))
    if not softmaxes:
        with _noting_reasons(function):
            _require_none(function)
    if chosen:
        outline_others(function, [nest for _, tiles, _ in chosen for nest in tiles.attention.nests], taken)
    for choice in chosen:
        _replace(choice, block)
    return bool(chosen)


@contextmanager
def _noting_reasons(function: ir.Operation) -> Iterator[None]:
    """Say on the function why an attention is not fused."""
    try:
        yield
    except NotFused as reason:
        function.attributes[NOT_FUSED] = ir.StringAttr.get(str(reason))


def _require_none(function: ir.Operation) -> None:
    """Raise NotFused where loops of no known form compute sums of products twice, and the largest of rows as softmax does."""
    loops = [op for op in nested_ops(function) if op.name == "affine.for" and len(op.results)]
    chains = [chain for loop in loops if (chain := chain_of(loop))]
    products = [chain for chain in chains if any(op.name == "arith.mulf" for op in real_ops(chain.body))]
    if len(products) < 2 or not any(is_largest(chain) for chain in chains):
        return
    kinds = [{str(op.results[0].type) for op in real_ops(chain.body) if op.name == "affine.load"} for chain in products]
    require_elements(min(kinds, key=len))
    raise NotFused("its scores have no nests of their own")


def _replace(choice: _Choice, block: ir.Block) -> None:
    """Put a kernel in the place of the last nest; what the others read lives until then, and scores nowhere."""
    kernel, tiles, tile = choice
    first, softmax, last = tiles.attention.nests
    ops = [op.operation for op in block.operations]
    for op in ops[ops.index(first) : ops.index(last)]:
        if op.name == "memref.dealloc":
            op.move_after(last)
    with ir.InsertionPoint(last), last.location:
        launch_attention(kernel, tiles, tile)
    for nest in (last, softmax, first):
        nest.erase()
    for buffer in tiles.attention.softmax.buffers:
        for user in [*users_of(buffer), buffer.owner]:
            user.erase()
