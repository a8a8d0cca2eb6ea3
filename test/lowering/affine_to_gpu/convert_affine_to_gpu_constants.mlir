// RUN: dlc-opt %s --convert-affine-to-gpu --split-input-file | filecheck %s
// Kernels name the constants that they read, and view them, by themselves. The pass refuses nothing of that.

// CHECK-LABEL: func.func @viewed
// CHECK: gpu.launch
// CHECK: %[[C:.*]] = memref.get_global @c : memref<2x4xf32>
// CHECK: %[[V:.*]] = memref.collapse_shape %[[C]]
// CHECK: %[[W:.*]] = memref.subview %[[V]][%{{.*}}] [4] [1]
// CHECK-NOT: memref.get_global
// CHECK: affine.load %[[V]]
// CHECK: affine.load %[[W]]
memref.global "private" constant @c : memref<2x4xf32> = dense<1.0>
func.func @viewed(%A: memref<4xf32>, %at: index) {
  %c = memref.get_global @c : memref<2x4xf32>
  %v = memref.collapse_shape %c [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %w = memref.subview %v[%at] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  affine.for %b = 0 to 1 {
    affine.for %t = 0 to 4 {
      %0 = affine.load %v[%t] : memref<8xf32>
      %1 = affine.load %w[%t] : memref<4xf32, strided<[1], offset: ?>>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %A[%t] : memref<4xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

// no-match: views of the caller's memory come from the host.
// CHECK-LABEL: func.func @given
// CHECK: memref.collapse_shape
// CHECK: gpu.launch
// CHECK-NOT: memref.collapse_shape
func.func @given(%A: memref<2x4xf32>, %x: f32) {
  %v = memref.collapse_shape %A [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  affine.for %b = 0 to 1 {
    affine.for %t = 0 to 8 {
      affine.store %x, %v[%t] : memref<8xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}
