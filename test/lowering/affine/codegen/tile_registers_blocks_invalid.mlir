// RUN: dlc-opt %s --affine-tile-registers='vector-bits=128 registers=16' --verify-diagnostics
// Blocks go around a sum; a loop that does not count from 0 by 1 makes none.

func.func private @blocks_without_a_sum(%a: memref<3x6xf32>, %b: memref<6x8xf32>, %c: memref<3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{a nest is cut into blocks around a sum, and this one has none that counts from 0 by 1}}
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 8 {
      %1 = affine.for %k = 16 to 6 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<3x6xf32>
        %y = affine.load %b[%k, %j] : memref<6x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<3x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 2>], lane_loop = 1 : i64, lanes = 4 : i64, blocks = [array<i64: 0, 4>]}}
  return
}
