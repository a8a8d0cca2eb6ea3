"""Feeds dlc with mutated models, modules, command lines and calls, and tells clean ends from crashes, hangs and wrong numbers.

    make fuzz-inputs MINUTES=30 SEED=1

`families` lists the kinds of input. A case is bytes that depend on (seed, family, index) alone; worker processes, forked from one
that has imported everything, run cases in batches (`workers`); `runner` counts their ends, reduces findings and saves them.
"""
