// RUN: dlc-opt %s --affine-tile-windows --split-input-file --verify-diagnostics
// Schedules of windows for nests that have none along those lanes.

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

// -----

func.func @tap_lanes(%x: memref<6x4xf32>, %k: memref<3x4xf32>, %y: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{the nest has no windows along these lanes; give it another schedule, or none}}
  affine.for %h = 0 to 4 {
    affine.for %c = 0 to 4 {
      %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %x[%h + %i, %c] : memref<6x4xf32>
        %t = affine.load %k[%i, %c] : memref<3x4xf32>
        %m = arith.mulf %e, %t : f32
        %s = arith.addf %a, %m : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%h, %c] : memref<4x4xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "windows", lane_loop = 2 : i64, lanes = 4 : i64}}
  return
}
