"""Changes of a schedule, by the name that Halide, TVM or MLIR gives them: functions from program to program.

Each returns the changed program and the names of the loops that the user may want to go on with. A change that would break a
dependence, or that makes no sense for the loops that are named, raises `PrimitiveError`.
"""
