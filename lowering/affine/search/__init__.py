"""What chooses a schedule: order of loops, tiles, blocks, copies, prefetches, skewing, and isl's scheduler.

Imports `ir`, `polyhedral`, `dependences`, `cost`, `schedule` and `loop_generation`.
"""
