// RUN: dlc-opt %s --affine-block-crops | filecheck %s
// Nests that read the crop of an image in blocks go by these blocks. The pass refuses nothing.

// CHECK-LABEL: func.func private @crop(
// CHECK-SAME: %[[Y:[^ ]*]]: memref<?x?x?x8xf32> {llvm.noalias}, %[[N:.*]]: index, %[[B:.*]]: index, %[[T:.*]]: index, %[[H:.*]]: index, %
// CHECK: %[[W:.*]] = affine.apply #[[TWICE:.*]]()[%[[T]]]
// CHECK: %[[A:.*]] = memref.alloc(%[[N]], %[[B]], %[[W]]) : memref<?x?x4x?x8xf32>
// CHECK: affine.store %{{.*}}, %[[A]][%{{.*}}, %{{.*}}, %{{.*}} * 2 + %{{.*}}, %{{.*}} * 2 + %{{.*}}, %{{.*}}]
// CHECK: affine.for %[[I:.*]] = 0 to %[[N]] {
// CHECK:   affine.for %[[J:.*]] = 0 to %[[B]] {
// CHECK:     affine.for %[[R:.*]] = 0 to min #{{.*}}(%[[J]])[%[[H]]] {
// CHECK:       affine.load %[[A]][%[[I]], %[[J]], %[[R]], %{{.*}}, %{{.*}}]
// CHECK:       affine.store %{{.*}}, %[[Y]][%[[I]], %[[J]] * 4 + %[[R]], %{{.*}}, %{{.*}}]
func.func private @crop(%x: memref<?x?x2x2x?x2x8xf32> {llvm.noalias}, %y: memref<?x?x?x8xf32> {llvm.noalias}, %n: index, %b: index, %t: index, %h: index, %w: index) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n, %b, %t) : memref<?x?x2x2x?x2x8xf32>
  %image = memref.collapse_shape %a [[0], [1, 2, 3], [4, 5], [6]] : memref<?x?x2x2x?x2x8xf32> into memref<?x?x?x8xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %b {
      affine.for %p = 0 to 2 {
        affine.for %q = 0 to 2 {
          affine.for %k = 0 to %t {
            affine.for %l = 0 to 2 {
              affine.for %c = 0 to 8 {
                %v = affine.load %x[%i, %j, %p, %q, %k, %l, %c] : memref<?x?x2x2x?x2x8xf32>
                affine.store %v, %a[%i, %j, %p, %q, %k, %l, %c] : memref<?x?x2x2x?x2x8xf32>
              } {dlc.parallel}
            } {dlc.parallel}
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %crop = memref.subview %image[0, 0, 0, 0] [%n, %h, %w, 8] [1, 1, 1, 1] : memref<?x?x?x8xf32> to memref<?x?x?x8xf32, strided<[?, ?, 8, 1]>>
  affine.for %i = 0 to %n {
    affine.for %r = 0 to %h {
      affine.for %k = 0 to %w {
        affine.for %c = 0 to 8 {
          %v = affine.load %crop[%i, %r, %k, %c] : memref<?x?x?x8xf32, strided<[?, ?, 8, 1]>>
          %m = arith.maximumf %v, %zero : f32
          affine.store %m, %y[%i, %r, %k, %c] : memref<?x?x?x8xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %a : memref<?x?x2x2x?x2x8xf32>
  return
}

// no-match: a crop that begins behind the first row.
// CHECK-LABEL: func.func private @behind(
// CHECK: memref.alloc() : memref<4x4x8xf32>
func.func private @behind(%y: memref<14x8xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x4x8xf32>
  %image = memref.collapse_shape %a [[0, 1], [2]] : memref<4x4x8xf32> into memref<16x8xf32>
  affine.for %j = 0 to 4 {
    affine.for %p = 0 to 4 {
      affine.for %c = 0 to 8 {
        affine.store %zero, %a[%j, %p, %c] : memref<4x4x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %crop = memref.subview %image[1, 0] [14, 8] [1, 1] : memref<16x8xf32> to memref<14x8xf32, strided<[8, 1], offset: 8>>
  affine.for %r = 0 to 14 {
    affine.for %c = 0 to 8 {
      %v = affine.load %crop[%r, %c] : memref<14x8xf32, strided<[8, 1], offset: 8>>
      affine.store %v, %y[%r, %c] : memref<14x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %a : memref<4x4x8xf32>
  return
}
