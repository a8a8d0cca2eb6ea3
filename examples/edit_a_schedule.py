"""Edit the schedule of one kernel of BERT: its tile, its epilogue, its mapping to a GPU. Each step is checked before it is taken.

python examples/edit_a_schedule.py
"""

from __future__ import annotations

import numpy as np
import onnx

import dlc
from bench.networks import bert

NODE = "layer0/mlp/up/MatMul"


def edit_for_cpu(model: onnx.ModelProto) -> dlc.CompiledModel:
    """Another tile for the matmul, whose epilogue runs apart and then in one loop with it again."""
    kernels = dlc.kernels(model)
    schedule = kernels[NODE].schedule
    matmul, epilogue = schedule.distribute("S0:1", before=["S2"])  # unfuse: bias and gelu get a loop of their own
    print(schedule)
    fused = schedule.fuse(matmul, epilogue)
    schedule.tile_registers("S0:0", lane_loop=fused, vectors=2, unroll_and_jam=["S0:0"], factors=[4])
    return dlc.compile(model, schedule=kernels)


def edit_for_gpu(model: onnx.ModelProto) -> bytes:
    """Blocks of 8 x 32 results, a thread for each."""
    kernel = dlc.kernels(model, "gpu:sm_90")[NODE]
    loops = kernel.schedule.tile(["S0:0", "S0:1"], [8, 32])
    for loop, unit in zip(loops, ("block.y", "block.x", "thread.y", "thread.x"), strict=True):
        kernel.schedule.bind(loop, unit)
    return kernel.emit("ptx")


def refuse(model: onnx.ModelProto) -> str:
    """A step that would change results: the sum over k in iterations that run at once."""
    try:
        dlc.kernels(model)[NODE].schedule.parallelize("S1:2")
    except dlc.ScheduleError as error:
        return str(error)
    raise AssertionError("the iterations of a sum depend on each other")


def main() -> None:
    """Edit, compile, compare with the model as it is, map to a GPU, and show a step that is refused."""
    model = bert.build(layers=1, seq=32, hidden=128, heads=4, vocab=101)
    plain, edited = dlc.compile(model), edit_for_cpu(model)
    inputs = dlc.random_inputs(plain.inputs)
    for expected, result in zip(plain(inputs), edited(inputs), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    print("\nthe edited model gives the same results\n")
    print(*edit_for_gpu(model).decode().splitlines()[3:28], sep="\n")
    print(f"\nrefused: {refuse(model)}")


if __name__ == "__main__":
    main()
