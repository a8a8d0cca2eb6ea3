"""What upstream's loop passes make of random nests is accepted exactly where it computes the same; a symbolic run is the judge."""

from __future__ import annotations

import random

import pytest
from random_nests import nest
from symbolic_interpreter import run, visible

from dlc._mlir import ir
from dlc.lowering.affine.equivalence.equivalence import Assumptions, compare
from dlc.lowering.affine.ir.op_names import name_ops, origins
from dlc.lowering.native import run_native

PASSES = {
    "fuse": "affine-loop-fusion",
    "fuse-all": "affine-loop-fusion{mode=producer maximal}",
    "tile": "affine-loop-tile{tile-sizes=2,2}",
    "normalize-and-tile": "affine-loop-normalize,affine-loop-tile{tile-sizes=3,2}",
    "unroll": "affine-loop-unroll{unroll-factor=2}",
    "unroll-and-jam": "affine-loop-unroll-jam{unroll-jam-factor=2}",
    "forward": "affine-loop-invariant-code-motion,affine-scalrep,cse,canonicalize",
    "coalesce": "affine-loop-coalescing",
    "copy": "affine-data-copy-generate{generate-dma=false fast-mem-space=0}",
    "several": "affine-loop-fusion,affine-loop-tile{tile-sizes=2,2},affine-scalrep",
}


def _check(text: str, seeds: range) -> None:
    with ir.Context(), ir.Location.unknown():
        for seed in seeds:
            source = nest(random.Random(seed))
            modules = ir.Module.parse(source), ir.Module.parse(source)
            name_ops(modules[1].body.operations[0].operation)
            try:
                run_native(modules[1].operation, f"func.func({text})")
                modules[1].operation.verify()
            except ir.MLIRError:
                continue  # fusion interchanges loops whose bounds need each other
            before, after = (module.body.operations[0].operation for module in modules)
            found = compare(before, after, origins(after, before), text, Assumptions(no_alias=True))
            is_equal = visible(run(before)) == visible(run(after))
            assert (found.refusal is None) == is_equal, f"seed {seed}: {found.refusal and found.refusal.message}\n{before}\n{after}"


@pytest.mark.parametrize("name", sorted(PASSES))
def test_passes(name: str) -> None:
    _check(PASSES[name], range(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PASSES))
def test_passes_on_many_nests(name: str) -> None:
    _check(PASSES[name], range(6, 106))
