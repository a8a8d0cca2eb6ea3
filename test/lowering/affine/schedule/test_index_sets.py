"""Recurrences in blocks and in levels compute what NumPy does, where sizes are no multiples of blocks."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from bench.polybench.compiled import DEFAULT_PIPELINE, compile_kernel
from bench.polybench.sizes import SIZES
from bench.polybench.suite import copied, suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.volumes import volume
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.schedule.dependence_levels import leveled_schedules
from dlc.lowering.affine.schedule.index_sets import blocked_schedules
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.library import load_library


@pytest.mark.parametrize("name", ["cholesky", "lu", "nussinov", "floyd-warshall"])
@pytest.mark.parametrize("size", [5, 37])
def test_any_size(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[name], "ODD", {"N": size})
    kernel = suite()[name]
    code = compile_kernel(kernel, "ODD", "f64", DEFAULT_PIPELINE)
    initial = kernel.checked_arguments("ODD", "f64")
    have, want = copied(initial), copied(initial)
    code.bind(have)()
    kernel.expect(want, "ODD")
    assert kernel.error(have, want) < 1e-12


def test_which_kernels_have_blocks_or_levels() -> None:
    found = {name: _splits(name) for name in ("cholesky", "lu", "nussinov", "floyd-warshall", "gemm", "seidel-2d", "jacobi-2d")}
    assert found == {
        "cholesky": (True, False),
        "lu": (True, False),
        "nussinov": (True, False),
        "floyd-warshall": (False, True),
        "gemm": (False, False),
        "seidel-2d": (False, False),
        "jacobi-2d": (False, False),
    }


@pytest.mark.parametrize("name", ["cholesky", "lu"])
def test_what_runs_together_is_one_polyhedron(name: str) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("LARGE", "f64"))
        scop = extract(module.body.operations[0].operation)
        pieces: list[int] = []

        def visit(node: isl.ScheduleNode) -> bool:
            if not node.n_children() or node.get_type() == isl.schedule_node_type.leaf:
                domains = node.get_domain().coalesce().get_set_list()
                pieces.extend(domains.get_set(at).n_basic_set() for at in range(domains.n_set()))
            return True

        for schedule in blocked_schedules(DependenceAnalysis(scop), scop.statements, 8):
            schedule.get_root().foreach_descendant_top_down(visit)
    assert set(pieces) == {1}


@pytest.mark.parametrize(("name", "is_shared"), [("cholesky", True), ("lu", True), ("nussinov", False)])
def test_rows_below_the_diagonal_have_no_order(name: str, is_shared: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("SMALL", "f64"))
        Pipeline.parse("affine-polyhedral-schedule").run(module)
        found: list[ir.Operation] = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE, ir.WalkOrder.PRE_ORDER)
        rows = [op for op in found if "dlc.parallel" in op.attributes and _depth(op) == 1]
    assert bool(rows) == is_shared


def _depth(op: ir.Operation) -> int:
    """The loops around `op`."""
    depth = 0
    while op.name != "func.func":
        op = op.parent.operation
        depth += op.name == "affine.for"
    return depth


@pytest.mark.parametrize("name", ["cholesky", "lu"])
def test_jobs_give_the_same_bits(name: str) -> None:
    kernel, library = suite()[name], load_library()
    code = compile_kernel(kernel, "MEDIUM", "f64", DEFAULT_PIPELINE)
    results = []
    before = library.set_num_threads(1)
    for threads in (1, 2):
        library.set_num_threads(threads)
        results.append(copied(kernel.arguments("MEDIUM", "f64")))
        code.bind(results[-1])()
    library.set_num_threads(before)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(*results, strict=True))


def test_only_exact_updates_lose_their_order() -> None:
    assert _is_relaxed("nussinov")
    assert not _is_relaxed("cholesky")


def _splits(name: str) -> tuple[bool, bool]:
    """Whether the first loop nest of a kernel has schedules by blocks, and by levels."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("SMALL", "f64"))
        scop = extract(module.body.operations[0].operation)
        first = [one for one in scop.statements if one.beta[0] == scop.statements[0].beta[0]]
        analysis = DependenceAnalysis(scop)
        return any(True for _ in blocked_schedules(analysis, first, 8)), any(True for _ in leveled_schedules(analysis, first))


def _is_relaxed(name: str) -> bool:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("SMALL", "f64"))
        return DependenceAnalysis(extract(module.body.operations[0].operation)).is_relaxed


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("{ S[i, j] : 0 <= i < 10 and 3 <= j < 8 }", 50),
        ("{ S[i, j] : 0 <= i < 100 and 0 <= j < i }", 4950),
        ("{ S[i, j, k] : 0 <= i < 64 and 0 <= j < i and 8*floor(j/8) <= k < j }", 6720),
        ("{ S[] }", 1),
    ],
)
def test_volume_of_a_set(text: str, points: int) -> None:
    assert np.isclose(volume(isl.Set(text)), points, rtol=0.1)
