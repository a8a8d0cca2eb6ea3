// RUN: dlc-opt %s --affine-tile-windows --verify-diagnostics
// A schedule of windows for a nest that has none along those lanes.

func.func @matmul(%a: memref<8x4xf32>, %b: memref<4x8xf32>, %c: memref<8x8xf32>) {
  // expected-error@below {{the nest has no windows along these lanes; give it another schedule, or none}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %c[%i, %j] : memref<8x8xf32>
      %1 = affine.for %k = 0 to 4 iter_args(%s = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<8x4xf32>
        %y = affine.load %b[%k, %j] : memref<4x8xf32>
        %m = arith.mulf %x, %y : f32
        %t = arith.addf %s, %m : f32
        affine.yield %t : f32
      }
      affine.store %1, %c[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "windows", lane_loop = 1 : i64, lanes = 4 : i64}}
  return
}
