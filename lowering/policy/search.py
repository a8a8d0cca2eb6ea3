"""Choices of the search for schedules."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import setting


@dataclass(frozen=True)
class SearchPolicy:
    """What another order or blocks must gain, since bounds, guards and loops around cost."""

    order_gain: float = setting(0.95, "ratio", "cost of another order to that of the best one", 0.1, 1, 1)
    block_gain: float = setting(0.93, "ratio", "cost with cache blocks to that without", 0.1, 1, 1)
    enough_gain: float = setting(0.2, "ratio", "cost of an order to the text's that ends the search", 0, 1)
    panel_gain: float = setting(0.03, "share", "of all cycles that a copied panel must save", 0, 1)
    fused_ops: float = setting(0.5, "ratio", "cycles of a product and its sum to those of two ops", 0.1, 1, 1)
    index_set_share: float = setting(0.25, "share", "of all iterations that a loop of blocks which wait for none must have", 0, 1)
    vectors_at_once: int = setting(4, "vectors", "vectors of a row that a loop of copies moves in an iteration", 1, 16)
