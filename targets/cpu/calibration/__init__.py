"""Measures the machine that compiles: `measure.py` runs the loops of `kernels.py` and `memory.py`, `checks.py` refuses figures that
contradict each other, `row.py` keeps them. Imports `targets/machine`, what makes and loads code in `targets/cpu`, and `runtime`."""
