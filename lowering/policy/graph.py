"""Choices on graphs: layouts of images, what becomes one kernel's algorithm, and how ops become linalg."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class GraphPolicy:
    """Choices on graphs, before loops."""

    pool_pass_taps: float = setting(50.0, "taps", "what a pass of a pooling takes beside its taps", 0, 1000)
    narrow_columns: int = setting(64, "columns", "results side by side below which a tile of registers is mostly empty", 1, 1024)
    widened_columns: int = setting(48, "columns", "columns of a product that pay for widening its f16 rows before", 1, 1024)
    unpacked_rows: int = setting(8, "rows", "rows of a product that pay for unpacking numbers of a few bits once for all", 1, 1024)
    channel_block: int = setting(16, "channels", "output channels that a kernel keeps side by side", 4, 64)
    long_row: int = setting(16, "elements", "neighbours from which on a slice, a store or a copy is as good as whole rows", 1, 256)
    short_run: int = setting(96, "elements", "neighbours of an image below which it is stored by pixels before a product", 1, 4096)
    interleaving_factor: float = setting(
        1.6, "ratio", "time of a copy that fills lines in passes to one that fills each at once", 1, 8
    )
    short_sum: int = setting(32, "channels", "channels of a sum below which a product spends its time on results", 1, 512)
    peak_flops: float = setting(150e9, "1/s", "products and sums of f32 a second that shares of the peak are of", 1e9, 1e13)
    transposed_bytes_per_second: float = setting(
        8e9, "B/s", "bytes that a transpose of the innermost axis reads a second", 1e8, 1e12
    )
    least_saving: float = setting(1e-9, "s", "what another choice of layouts must save", 0, 1e-3)
    inside_to_padding: int = setting(4, "ratio", "rows to their padding from which on the inside is cut from the ends", 1, 64)
    tap_bands: int = setting(3, "bands", "bands of taps along an axis at most", 1, 8)
    kept_taps: float = setting(0.9, "share", "taps of an axis that bands may keep, of those with padding", 0, 1, 1)
    most_phases: int = setting(9, "ops", "convolutions that a transposed one becomes at most", 1, 64)
    fewest_phase_channels: int = setting(3, "channels", "output channels from which a phase is a convolution of its own", 1, 64)
    compared_keys: int = setting(1600, "pairs", "pairs of keys compared in the time of taking the largest key once", 1, 1 << 20)
    written_keys: int = setting(23, "pairs", "pairs of keys compared in the time of writing an index to its place", 0, 1 << 16)
    key_block: int = setting(32, "keys", "keys of a block of rows whose length run time knows", 2, 1 << 10)
    ranked_entries: int = setting(
        32, "entries", "entries up to which each is compared with all others instead of sorted by digits", 1, 1 << 12
    )
    box_group: int = setting(64, "boxes", "boxes that are passed over at once where none is a candidate", 1, 1 << 16)
    box_turn: int = setting(8, "boxes", "candidates until the number of boxes that are taken is looked at", 1, 1 << 16)
    chosen_boxes: int = setting(
        256, "boxes", "candidates up to which each next one is looked for instead of all sorted", 0, 1 << 16
    )
    box_vector: int = setting(16, "boxes", "boxes that a candidate is held against at once", 1, 1 << 10)
    sunk_rows: int = setting(8, "rows", "rows of a step of a loop from which a product of them is computed in the step", 1, 1 << 16)
    unrolled_ops: int = setting(48, "ops", "ops of all steps of a loop together up to which it is written out", 0, 1 << 16)
