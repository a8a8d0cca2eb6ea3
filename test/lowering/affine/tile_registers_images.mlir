// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Pixels of images with channels first: those of a row share cache lines, so a tile is along rows.

// CHECK-LABEL: func.func private @strided(
// CHECK: dlc.schedule = {emitter = "tile", jams = [array<i64: 1, 7>]
// CHECK-SAME: lane_loop = 2
func.func private @strided(%x: memref<64x14x14xf32>, %w: memref<64x48xf32>, %y: memref<7x7x48xf32>) {
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      affine.for %n = 0 to 48 {
        %0 = affine.load %y[%i, %j, %n] : memref<7x7x48xf32>
        %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
          %a = affine.load %x[%k, %i * 2, %j * 2] : memref<64x14x14xf32>
          %b = affine.load %w[%k, %n] : memref<64x48xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %acc, %p : f32
          affine.yield %s : f32
        }
        affine.store %1, %y[%i, %j, %n] : memref<7x7x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Columns of the image are contiguous instead.
// CHECK-LABEL: func.func private @columns(
// CHECK: dlc.schedule = {emitter = "tile", jams = [array<i64: 0, 7>]
// CHECK-SAME: lane_loop = 2
func.func private @columns(%x: memref<64x14x14xf32>, %w: memref<64x48xf32>, %y: memref<7x7x48xf32>) {
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      affine.for %n = 0 to 48 {
        %0 = affine.load %y[%i, %j, %n] : memref<7x7x48xf32>
        %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
          %a = affine.load %x[%k, %j * 2, %i * 2] : memref<64x14x14xf32>
          %b = affine.load %w[%k, %n] : memref<64x48xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %acc, %p : f32
          affine.yield %s : f32
        }
        affine.store %1, %y[%i, %j, %n] : memref<7x7x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
