// RUN: dlc-opt %s --affine-coalesce-loops | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --affine-coalesce-loops | filecheck %s --check-prefix=GPU
// Rows of a product are one loop. The pass refuses nothing.

// CHECK-LABEL: func.func private @open(
// CHECK-SAME: %[[X:[^ ]*]]: memref<16x8xf32> {llvm.noalias}, %[[Y:.*]]: memref<16x8xf32> {llvm.noalias}, %[[N:.*]]: index
// CHECK: %[[A:.*]] = memref.alloc(%[[N]]) : memref<2x3x?x16xf32>
// CHECK: %[[U:.*]] = memref.collapse_shape %[[A]] {{\[\[}}0], [1, 2], [3]] : memref<2x3x?x16xf32> into memref<2x?x16xf32>
// CHECK: %[[B:.*]] = memref.alloc(%[[N]]) : memref<2x3x?x8xf32>
// CHECK: %[[V:.*]] = memref.collapse_shape %[[B]] {{\[\[}}0], [1, 2], [3]] : memref<2x3x?x8xf32> into memref<2x?x8xf32>
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: affine.for %[[G:.*]] = 0 to 2 {
// CHECK:   affine.for %[[R:.*]] = 0 to %[[ROWS]] {
// CHECK:     affine.for %[[J:.*]] = 0 to 8 {
// CHECK:       affine.load %[[U]][%[[G]], %[[R]], %
// CHECK:       affine.store %{{.*}}, %[[V]][%[[G]], %[[R]], %[[J]]]
// CHECK: } {dlc.parallel}
// GPU-LABEL: func.func private @open(
// GPU-NOT: collapse_shape
// GPU: affine.for %{{.*}} = 0 to 3 {
// GPU-LABEL: func.func private @known(
func.func private @open(%w: memref<16x8xf32> {llvm.noalias}, %y: memref<16x8xf32> {llvm.noalias}, %n: index) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<2x3x?x16xf32>
  %b = memref.alloc(%n) : memref<2x3x?x8xf32>
  affine.for %g = 0 to 2 {
    affine.for %h = 0 to 3 {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to 8 {
          %s = affine.for %k = 0 to 16 iter_args(%t = %zero) -> (f32) {
            %l = affine.load %a[%g, %h, %i, %k] : memref<2x3x?x16xf32>
            %r = affine.load %w[%k, %j] : memref<16x8xf32>
            %p = arith.mulf %l, %r : f32
            %u = arith.addf %t, %p : f32
            affine.yield %u : f32
          }
          affine.store %s, %b[%g, %h, %i, %j] : memref<2x3x?x8xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// CHECK-LABEL: func.func private @known(
// CHECK: affine.for %{{.*}} = 0 to 12 {
// no-match: rows that end before those of the buffer.
// CHECK: affine.for %{{.*}} = 0 to 3 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 3 {
func.func private @known(%x: memref<3x4x16xf32> {llvm.noalias}, %w: memref<16x8xf32> {llvm.noalias}, %y: memref<3x4x8xf32> {llvm.noalias}, %z: memref<3x4x8xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 3 { affine.for %i = 0 to 4 { affine.for %j = 0 to 8 {
    %s = affine.for %k = 0 to 16 iter_args(%t = %zero) -> (f32) {
      %l = affine.load %x[%h, %i, %k] : memref<3x4x16xf32>
      %r = affine.load %w[%k, %j] : memref<16x8xf32>
      %p = arith.mulf %l, %r : f32
      %u = arith.addf %t, %p : f32
      affine.yield %u : f32
    }
    affine.store %s, %y[%h, %i, %j] : memref<3x4x8xf32>
  } {dlc.parallel} } {dlc.parallel} } {dlc.parallel}
  affine.for %h = 0 to 3 { affine.for %i = 0 to 3 { affine.for %j = 0 to 8 {
    %s = affine.for %k = 0 to 16 iter_args(%t = %zero) -> (f32) {
      %l = affine.load %x[%h, %i, %k] : memref<3x4x16xf32>
      %r = affine.load %w[%k, %j] : memref<16x8xf32>
      %p = arith.mulf %l, %r : f32
      %u = arith.addf %t, %p : f32
      affine.yield %u : f32
    }
    affine.store %s, %z[%h, %i, %j] : memref<3x4x8xf32>
  } {dlc.parallel} } {dlc.parallel} } {dlc.parallel}
  return
}
