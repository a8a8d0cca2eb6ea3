"""Limits against absurd work: bounds that usual input does not meet."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class Limits:
    """Bounds on code that is made and on work of the compiler."""

    pattern_depth: int = setting(12, "ops", "ops along one path of a pattern", 1, 64)
    pattern_ops: int = setting(64, "ops", "ops that one op stands for", 1, 1024)
    polynomial_degree: int = setting(3, "degree", "degree of a polynomial that is recognized", 1, 16)
    rewrites_per_op: int = setting(64, "rewrites", "rewrites per op before rules are taken to run in a circle", 1, 4096)
    layout_rounds: int = setting(4, "rounds", "rounds of the choice of layouts", 1, 64)
    layout_sweeps: int = setting(3, "sweeps", "sweeps over a region in a round", 1, 64)
    layout_rewrites: int = setting(8, "rewrites", "choices of layouts, each of what the last one left", 1, 64)
    loop_steps: int = setting(1 << 40, "steps", "steps of a graph's loop: of 10 ns each, they take three hours", 1 << 20, 1 << 62)
    repeated_elements: int = setting(16, "elements", "elements of a constant that is repeated inside kernels", 1, 4096)
    repeated_weight_elements: int = setting(1 << 14, "elements", "elements of a weight repeated by an op", 1, 1 << 30)
    added_weight_elements: int = setting(
        1 << 24, "elements", "elements that an op on weights makes beyond its operands'", 1, 1 << 34
    )
    kernel_name_ops: int = setting(4, "names", "ops in a kernel's name", 1, 16)
    shown_names: int = setting(3, "names", "names in a message or a key of a computed weight", 1, 16)
    unbounded_trips: int = setting(
        1 << 20, "trips", "stands for a loop without known bounds where one would be enough", 1 << 10, 1 << 40
    )
    unrolled_copies: int = setting(256, "copies", "copies of a body, beyond which code only grows", 1, 4096)
    llvm_unrolled_ops: int = setting(
        50, "ops", "ops of a body that LLVM unrolls: LoopMicroOpBufferSize of its models of Skylake and later", 0, 1 << 16
    )
    lane_copies: int = setting(32, "copies", "iterations that are written out one by one", 1, 1024)
    shared_load_ops: int = setting(256, "ops", "ops of a body whose loads are shared", 1, 1 << 16)
    transposed_load_ops: int = setting(4096, "ops", "ops of a body whose loads are transposed", 1, 1 << 20)
    wavefront_ops: int = setting(640, "ops", "ops of a wavefront that are written out", 1, 1 << 16)
    index_cases: int = setting(8, "values", "values that an index expression chooses from", 1, 64)
    guard_bounds: int = setting(8, "bounds", "bounds that are kept for a variable of a GPU kernel", 1, 64)
    sampled_iterations: int = setting(32, "trips", "iterations of the innermost serial loop whose work is estimated", 1, 1024)
    sampled_outer_iterations: int = setting(2, "trips", "and of each loop around it", 1, 64)
    volume_samples: int = setting(8192, "points", "points of a box that are tried to find a set's size", 64, 1 << 20)
    permuted_loops: int = setting(4, "loops", "innermost loops of a band whose orders are all tried", 1, 8)
    tried_loops: int = setting(12, "loops", "loops of a nest that the polyhedral search takes", 1, 64)
    scheduled_statements: int = setting(10, "statements", "statements in one loop that isl schedules together", 1, 64)
    schedule_coefficient: int = setting(2, "factor", "coefficients of isl's schedules", 1, 8)
    scheduler_operations: int = setting(200_000, "operations", "of isl's scheduler", 1, 1 << 40)
    scheduler_seconds: float = setting(20.0, "s", "of all answers of isl's scheduler for one part", 0, 1e6)
    scheduler_quick_size: int = setting(
        60, "products", "statements times loops times dependences that isl solves at once", 0, 1 << 20
    )
    nest_operations: int = setting(20_000_000, "operations", "of isl for one nest", 1, 1 << 40)
    step_operations: int = setting(50_000_000, "operations", "of isl for a schedule step", 1, 1 << 40)
    dependence_operations: int = setting(5_000_000, "operations", "of isl for dependences or levels of a function", 1, 1 << 40)
    equivalence_operations: int = setting(100_000_000, "operations", "of isl for a comparison of functions", 1, 1 << 40)
    widening_visits: int = setting(4, "visits", "visits of a pair of values before its instances are widened", 1, 64)
    most_visits: int = setting(40, "visits", "visits of a pair of values before the comparison is given up", 1, 1 << 16)
    reassociation_depth: int = setting(6, "ops", "ops along a path of a sum that is compared by its leaves", 1, 64)
    place_depth: int = setting(3, "ops", "copies between registers that are followed to memory", 1, 64)
    dependence_levels: int = setting(6, "levels", "levels of a loop that is cut by dependences", 1, 64)
    level_pieces: int = setting(16, "nests", "nests that are made of one by levels", 1, 256)
    index_set_rounds: int = setting(6, "steps", "steps along dependences after which what waits must be known", 1, 64)
    skew_factor: int = setting(2, "factor", "how often one outer loop is added to an inner one", 1, 8)
    skew_factors: int = setting(3, "factor", "and all outer loops together", 1, 16)
    statement_shift: int = setting(8, "trips", "iterations by which a statement is shifted in a tile", 0, 256)
    placings: int = setting(4, "ways", "ways to place statements of fewer loops that are tried", 1, 64)
    window_taps: int = setting(160, "taps", "taps of a window that are written out", 1, 4096)
    window_unrolled: int = setting(64, "taps", "taps of the innermost loop of a window that are written out", 1, 4096)
    mask_lanes: int = setting(1 << 20, "lanes", "lanes of a constant mask, each of which is a constant", 1, 1 << 30)
    border_tiles: int = setting(8, "tiles", "tiles at borders that get code of their own", 1, 64)
