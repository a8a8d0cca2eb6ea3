// RUN: dlc-opt %s --pass-pipeline='builtin.module(affine-outline-parallel{min-work=1000})' --verify-diagnostics
// Iterations that no index counts.

func.func @taken(%y: memref<0x0xf32>, %x: f32) {
  // expected-error @+1 {{the loops have 9223372036854775808 iterations, more than an index can count}}
  affine.for %i = -9223372036854775808 to 64 {
    affine.for %j = -9223372036854775808 to 64 {
      affine.store %x, %y[%i, %j] : memref<0x0xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
