"""Choices of GPU kernels."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import candidates, setting


@dataclass(frozen=True)
class GpuPolicy:
    """How loops are mapped to blocks and threads."""

    launch_cycles: float = setting(3500.0, "cycles", "from one kernel's start to that of the next, in a graph", 0, 1e6)
    thread_step_cycles: float = setting(40.0, "cycles", "an iteration in a thread while others run", 1, 1000)
    most_sectors: float = setting(
        2.0, "sectors", "moved for each that holds what is asked for, by accesses that count as coalesced", 1, 32
    )
    sharing_blocks: int = setting(4, "blocks", "blocks that share a multiprocessor's memory", 1, 32)
    least_reuse_loads: float = setting(0.4, "share", "loads left by a tile of results in a thread, at most", 0, 1, 1)
    tile_threads: int = setting(16, "threads", "threads of a tile along x and y, and steps of its sum", 4, 32)
    tile_registers: int = setting(128, "registers", "of a thread that computes a tile of results of 32 bits", 32, 255)
    frugal_chip: int = setting(90, "compute capability", "from which on ptxas does with `tile_registers` for a tile", 70, 200)
    frugal_loops: int = setting(4, "loops", "loops in each other up to which it does so", 1, 32)
    thread_results: tuple[int, ...] = candidates((4, 2), "results", "results of a thread along x and along y, the best first")
    row_registers: int = setting(32, "registers", "of a thread that hold its part of a row which it reads several times", 4, 128)
    kept_registers: int = setting(64, "registers", "of a thread that hold what it reads or computes several times", 4, 128)
    listed_iterations: int = setting(1 << 10, "trips", "of a thread's loop whose places are told apart one by one", 16, 1 << 16)
    gemv_rows: int = setting(8, "rows", "that are multiplied with a matrix at once, at most, in a kernel that memory bounds", 1, 16)
    mma_block_sides: tuple[int, ...] = candidates(
        (128, 64, 32, 16), "results", "results of a block on tensor cores along rows and columns"
    )
    mma_warp_sides: tuple[int, ...] = candidates(
        (64, 32, 16), "results", "results of a warp on tensor cores along rows and columns"
    )
    warpgroup_rows: tuple[int, ...] = candidates((128, 64), "results", "results of a block of `wgmma` along rows, 64 a warpgroup")
    warpgroup_columns: tuple[int, ...] = candidates((256, 128, 64), "results", "results of a block of `wgmma` along columns")
    mma_depths: tuple[int, ...] = candidates((128, 64, 32), "bytes", "bytes of a row that a block multiplies at a time")
    mma_stages: tuple[int, ...] = candidates((8, 6, 4, 3, 2), "stages", "tiles of a sum that are on their way to shared memory")
    mma_most_warps: int = setting(8, "warps", "warps of a block on tensor cores", 1, 32)
    mma_sums: int = setting(128, "registers", "registers of a thread that hold sums on tensor cores, at most", 8, 200)
    mma_held: int = setting(
        32, "elements", "elements that a thread on tensor cores holds on their way to shared memory, at most", 1, 128
    )
    mma_registers: int = setting(
        48, "registers", "registers of a thread for addresses and the like, beside sums and operands", 8, 128
    )
    mma_copy_registers: int = setting(
        10, "registers", "registers of a thread for each copy to shared memory of rows that are not equally far apart", 0, 32
    )
    simt_block_sides: tuple[int, ...] = candidates(
        (256, 128, 64, 32, 16), "results", "results of a block along rows and columns where threads multiply without tensor cores"
    )
    simt_thread_sides: tuple[int, ...] = candidates((8, 4), "results", "results of such a thread along rows and columns")
    simt_depths: tuple[int, ...] = candidates((16, 8), "products", "products of a sum that such a block multiplies at a time")
    simt_stages: tuple[int, ...] = candidates(
        (4, 3, 2), "stages", "tiles of a sum that such a block has on their way to shared memory"
    )
    simt_registers: int = setting(
        48, "registers", "registers of such a thread for addresses and the like, beside sums and operands", 8, 128
    )
    shared_latency: float = setting(
        15.0, "cycles", "of the latency of shared memory that a warp's own instructions do not cover in a step of the sum", 0, 100
    )
    start_cycles: float = setting(
        3600.0, "cycles", "of a kernel beside its products: the start of its blocks, the first copies, the last stores", 0, 1e5
    )
    attention_registers: int = setting(
        208,
        "registers",
        "registers of a thread of attention, at most: its tiles, addresses of copies, and `mma_registers`",
        64,
        255,
    )
    attention_thread_rows: tuple[int, ...] = candidates((8, 4, 2, 1), "rows", "rows of a thread of attention in f32")
    producer_registers: int = setting(24, "registers", "registers of a thread that only brings panels for warpgroups", 24, 168)
    softmax_chains: int = setting(1, "chains", "chains, side by side, that make one number of a row of scores", 1, 32)
    attention_thread_keys: int = setting(8, "keys", "keys of a thread at a time where few queries share a block's keys", 1, 32)
    score_instructions: float = setting(
        12.0, "instructions", "between a score's product and its weight: scale, largest, exponential, sum, rounding", 1, 100
    )
    copy_instructions: float = setting(
        8.0, "instructions", "for a copy to shared memory: its address, its place and itself", 1, 100
    )
    sum_parts: tuple[int, ...] = candidates(
        (2, 3, 4, 6, 8, 12, 16), "parts", "of a sum on tensor cores that blocks compute side by side"
    )
    place_instructions: float = setting(
        12.0, "instructions", "to find the iteration of one of several loops, by a division, where a copy cannot add", 1, 100
    )
    step_instructions: float = setting(
        40.0, "instructions", "of a warp for a tile of a sum on tensor cores beside copies and products", 0, 200
    )
    warp_cycles: float = setting(2.75, "cycles", "from an instruction of a warp to its next where no other warp delays it", 1, 30)
    memory_latency: float = setting(600.0, "cycles", "from a load of global memory to its value", 100, 5000)
    stage_latency: float = setting(
        1200.0, "cycles", "from the copies of a tile of a sum on tensor cores to their arrival, with others on their way", 100, 5000
    )
    barrier_cycles: float = setting(60.0, "cycles", "a barrier of a block and the fill of its tensor cores", 0, 1000)
    mma_gain: float = setting(0.9, "share", "time of a kernel on tensor cores, at most, of that of one without", 0, 1e6, 1e6)
