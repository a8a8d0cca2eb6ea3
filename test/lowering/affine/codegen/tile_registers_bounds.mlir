// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Rows of an unknown number with bounds: a multiple of a tile's height leaves nothing over, and few rows get no taller tile.

// CHECK-LABEL: func.func private @eights(
// CHECK: %[[N:.*]] = memref.dim
// CHECK: affine.for %{{.*}} = 0 to %[[N]] step 8 {
// CHECK-NOT: affine_map
// CHECK-NOT: vector.create_mask
// CHECK: return
func.func private @eights(%a: memref<?x64xf32> {dl.dims = ["n", ""]}, %b: memref<64x48xf32>, %c: memref<?x48xf32> {dl.dims = ["n", ""]})
    attributes {dl.bounds = {n = array<i64: 8, 512, 8>}} {
  %axis = arith.constant 0 : index
  %n = memref.dim %a, %axis : memref<?x64xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 48 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x48xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<?x48xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Up to three rows, in columns that are whole vectors.
// CHECK-LABEL: func.func private @few(
// CHECK-NOT: step {{[4-9]}} {
// CHECK-NOT: vector.create_mask
// CHECK: return
func.func private @few(%a: memref<?x64xf32> {dl.dims = ["n", ""]}, %b: memref<64x?xf32> {dl.dims = ["", "m"]}, %c: memref<?x?xf32> {dl.dims = ["n", "m"]})
    attributes {dl.bounds = {m = array<i64: 0, -1, 16>, n = array<i64: 1, 3, 1>}} {
  %axis = arith.constant 0 : index
  %other = arith.constant 1 : index
  %n = memref.dim %a, %axis : memref<?x64xf32>
  %m = memref.dim %b, %other : memref<64x?xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x?xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
