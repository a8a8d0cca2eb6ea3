// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Rows of several open dims together are as many as usual ones of all: more than the caches hold, so that they are read once,
// and blocks of columns go round inside (no-match: rows of one open dim, which the cache holds).

// CHECK-LABEL: func.func private @pixels(
// CHECK: order = array<i64: 0, 1, 2>
func.func private @pixels(%x: memref<?x192xf32>, %w: memref<6x192x16xf32>, %y: memref<?x6x16xf32>, %n: index, %h: index) {
  %zero = arith.constant 0.0 : f32
  %rows = arith.muli %n, %h : index
  affine.for %i = 0 to %rows {
    affine.for %b = 0 to 6 {
      affine.for %j = 0 to 16 {
        %s = affine.for %k = 0 to 192 iter_args(%acc = %zero) -> (f32) {
          %0 = affine.load %x[%i, %k] : memref<?x192xf32>
          %1 = affine.load %w[%b, %k, %j] : memref<6x192x16xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %y[%i, %b, %j] : memref<?x6x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// CHECK-LABEL: func.func private @rows(
// CHECK: order = array<i64: 1, 0, 2>
func.func private @rows(%x: memref<?x192xf32>, %w: memref<6x192x16xf32>, %y: memref<?x6x16xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %b = 0 to 6 {
      affine.for %j = 0 to 16 {
        %s = affine.for %k = 0 to 192 iter_args(%acc = %zero) -> (f32) {
          %0 = affine.load %x[%i, %k] : memref<?x192xf32>
          %1 = affine.load %w[%b, %k, %j] : memref<6x192x16xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %y[%i, %b, %j] : memref<?x6x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
