// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=128 registers=16" --split-input-file | filecheck %s
// Results whose lanes lie apart in memory, as with channels first: a tile along the contiguous loop is transposed.

// Pairs of pixels: each vector of four channels gives two halves, and each pair of halves two vectors of two pixels.
// CHECK-LABEL: func.func private @runs(
// CHECK: %[[SUMS:.*]]:2 = affine.for
// CHECK: %[[A:.*]] = vector.shuffle %[[SUMS]]#0, %[[SUMS]]#0 [0, 1]
// CHECK: %[[B:.*]] = vector.shuffle %[[SUMS]]#1, %[[SUMS]]#1 [0, 1]
// CHECK: %[[CHANNEL0:.*]] = vector.shuffle %[[A]], %[[B]] [0, 2]
// CHECK: %[[CHANNEL1:.*]] = vector.shuffle %[[A]], %[[B]] [1, 3]
// CHECK: vector.store %[[CHANNEL0]], %{{.*}} : memref<4x6xf32>, vector<2xf32>
// CHECK: vector.store %[[CHANNEL1]], %{{.*}} : memref<4x6xf32>, vector<2xf32>
// CHECK-COUNT-2: vector.store
// CHECK-NOT: vector.store
func.func private @runs(%a: memref<6x32xf32>, %b: memref<32x4xf32>, %c: memref<4x6xf32>) {
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 4 {
      %zero = arith.constant 0.0 : f32
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<6x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x4xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%j, %i] : memref<4x6xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 2>], lane_loop = 1 : i64, lanes = 4 : i64}}
  return
}

// -----

// no-match: six columns are no whole vectors, so the lanes are rows, whose loads are apart instead.
// CHECK-LABEL: func.func private @partial(
// CHECK: dlc.schedule = {code_generator = "tile", {{.*}}lanes = 4 : i64
// CHECK-NOT: lane_loop = 1
func.func private @partial(%a: memref<8x32xf32>, %b: memref<32x6xf32>, %c: memref<6x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 6 {
      %zero = arith.constant 0.0 : f32
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<8x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x6xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%j, %i] : memref<6x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
