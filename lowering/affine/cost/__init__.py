"""Cycles of a nest under a tile, and of a contraction by its sizes. Nothing here changes IR.

Whoever compares nests asks `LoopNestCost.cycles(tile)` or, for band nests, `BandNestCost.cycles(tile, limits)`, both by
`step(tile)`: `Cycles` of issue, latency and memory. Layouts, packing, fusion and Winograd's tiles ask `contractions.py`.

Imports `ir`, `polyhedral` and `dependences`.
"""
