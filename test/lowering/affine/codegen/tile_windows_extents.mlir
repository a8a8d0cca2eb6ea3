// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=256 registers=16" --split-input-file | filecheck %s
// Extents of one and unknown extents.

// One pixel within padding does not show which subscript moves along the padded axis: its buffer stays and is read.
// CHECK-LABEL: func.func @one_pixel(
// CHECK: %[[P:.*]] = memref.alloc() : memref<1x3xf32>
// CHECK-NOT: vector.maskedload %arg0
// CHECK: vector.maskedload %[[P]]
// CHECK: vector.maskedstore %arg2
func.func @one_pixel(%x: memref<1x1xf32>, %k: memref<2xf32>, %y: memref<1x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<1x3xf32>
  affine.for %w = 0 to 3 {
    affine.store %zero, %p[0, %w] : memref<1x3xf32>
  } {dlc.parallel}
  %inside = memref.subview %p[0, 1] [1, 1] [1, 1] : memref<1x3xf32> to memref<1x1xf32, strided<[3, 1], offset: 1>>
  affine.for %h = 0 to 1 {
    %e = affine.load %x[%h, 0] : memref<1x1xf32>
    affine.store %e, %inside[%h, 0] : memref<1x1xf32, strided<[3, 1], offset: 1>>
  } {dlc.parallel}
  affine.for %w = 0 to 2 {
    %0 = affine.for %j = 0 to 2 iter_args(%a = %zero) -> (f32) {
      %e = affine.load %p[0, %w + %j] : memref<1x3xf32>
      %t = affine.load %k[%j] : memref<2xf32>
      %m = arith.mulf %e, %t : f32
      %s = arith.addf %a, %m : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[0, %w] : memref<1x2xf32>
  } {dlc.parallel}
  memref.dealloc %p : memref<1x3xf32>
  return
}

// -----

// Rows of an unknown number are taken one at a time.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK: affine.for %[[H:.*]] = 0 to %
// CHECK: vector.fma
// CHECK: vector.maskedstore {{.*}} : memref<?x3xf32>
func.func @unknown_rows(%x: memref<?x3xf32>, %k: memref<3xf32>, %y: memref<?x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %rows = memref.dim %y, %first : memref<?x3xf32>
  affine.for %h = 0 to %rows {
    affine.for %w = 0 to 3 {
      %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %x[%h + %i, %w] : memref<?x3xf32>
        %t = affine.load %k[%i] : memref<3xf32>
        %m = arith.mulf %e, %t : f32
        %s = arith.addf %a, %m : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%h, %w] : memref<?x3xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
