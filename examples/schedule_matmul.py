"""Schedule a matrix product by hand: tiles, a packed operand, vectors, registers. Each step is checked before it is taken.

python examples/schedule_matmul.py
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.cpu.link import LinkedCode

SIZE = 512
MATMUL = """
func.func @matmul(%A: KIND {llvm.noalias}, %B: KIND {llvm.noalias}, %C: KIND {llvm.noalias}) attributes {dl.kernel} {
  affine.for %i = 0 to SIZE {
    affine.for %j = 0 to SIZE {
      affine.for %k = 0 to SIZE {
        %a = affine.load %A[%i, %k] : KIND
        %b = affine.load %B[%k, %j] : KIND
        %c = affine.load %C[%i, %j] : KIND
        %x = arith.mulf %a, %b fastmath<contract> : f32
        %y = arith.addf %c, %x fastmath<contract> : f32
        affine.store %y, %C[%i, %j] : KIND
      } {dlc.name = "k"}
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
""".replace("KIND", "memref<SIZExSIZExf32>").replace("SIZE", str(SIZE))


def schedule() -> dlc.Schedule:
    """The schedule: 4 x 64 results stay in registers while a packed panel of 256 rows of B is used again and again."""
    s = dlc.Schedule(MATMUL)
    it, jt, kt, i, j, k = s.tile(["i", "j", "k"], [4, 64, 256])
    s.interchange([kt, jt, it])
    s.pack("arg1", jt)
    s.interchange([k, i, j])
    s.pack("arg2", it)
    s.vectorize(j, 16)
    s.unroll(j)
    s.unroll(i)
    return s


def compiled(module: ir.Module) -> Callable[..., None]:
    """The module's function as a function of NumPy arrays."""
    with module.context, ir.Location.unknown():
        dlc.Pipeline.parse("affine-to-llvm").run(module)
        code = LinkedCode([emit_unit(module, "matmul")], ["matmul"])
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("matmul"))
    return lambda *arrays, keep=code: function(*(array.ctypes.data for array in arrays))


def gflops(function: Callable[..., None]) -> float:
    """How fast it is, best of three, after checking what it computes."""
    a, b = np.random.default_rng(0).standard_normal((2, SIZE, SIZE)).astype(np.float32)
    c, times = np.zeros((SIZE, SIZE), np.float32), []
    function(a, b, c)
    np.testing.assert_allclose(c, a @ b, atol=1e-3)
    for _ in range(3):
        start = time.perf_counter()
        function(a, b, c)
        times.append(time.perf_counter() - start)
    return float(2 * SIZE**3 / min(times) / 1e9)


def main() -> None:
    """Refuse a step, take the others, print them, run what comes of them."""
    try:
        dlc.Schedule(MATMUL).parallelize("k")
    except dlc.ScheduleError as error:
        print(f"refused: {error}\n")

    made = schedule()
    print(made, made.to_python(), made.to_transform(), sep="\n\n")
    plain, tuned = gflops(compiled(dlc.Schedule(MATMUL).apply())), gflops(compiled(made.apply()))
    print(f"as written: {plain:.1f} GFLOP/s, scheduled: {tuned:.1f} GFLOP/s")
    print("results agree with NumPy")


if __name__ == "__main__":
    main()
