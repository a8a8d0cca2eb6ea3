// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Rows of an open number count as usual ones where it is asked whether they come from beyond L2: 64 images of 3136 rows of 64 do.

// CHECK-LABEL: func.func private @images(
// CHECK-SAME: %[[A:[^:]*]]: memref<?x3136x64xf32>
// CHECK: memref.prefetch %[[A]]
// CHECK: fetch_rows = 1
func.func private @images(%a: memref<?x3136x64xf32>, %b: memref<64x48xf32>, %c: memref<?x3136x48xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x3136x64xf32>
  affine.for %l = 0 to %n {
    affine.for %i = 0 to 3136 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%l, %i, %j] : memref<?x3136x48xf32>
        %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%l, %i, %k] : memref<?x3136x64xf32>
          %y = affine.load %b[%k, %j] : memref<64x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%l, %i, %j] : memref<?x3136x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: 64 rows are usual, which L2 holds.
// CHECK-LABEL: func.func private @rows(
// CHECK-NOT: memref.prefetch
// CHECK-NOT: fetch_rows
// CHECK-LABEL: func.func private @last(
func.func private @rows(%a: memref<?x64xf32>, %b: memref<64x48xf32>, %c: memref<?x48xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x64xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 48 {
      %0 = affine.load %c[%i, %j] : memref<?x48xf32>
      %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x48xf32>
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<?x48xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @last() {
  return
}
