// RUN: dlc-opt %s --linalg-bufferize-tensors --split-input-file | filecheck %s
// A private function returns memory of its own, or an argument as it is: a part of one is copied there, and not again by the caller.

// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = call @cut(%{{.*}})
// CHECK-NEXT: return %[[R]]
// CHECK-LABEL: func.func private @cut
// CHECK: %[[V:.*]] = memref.subview
// CHECK: %[[C:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %{{.*}}, %[[C]]
// CHECK-NEXT: return %[[C]]
func.func @main(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %0 = func.call @cut(%x, %n) : (tensor<?x4xf32>, index) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func private @cut(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %0 = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// no-match: an argument.
// CHECK-LABEL: func.func private @same(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// An argument that is reshaped and back is the argument.
// CHECK-LABEL: func.func private @back(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x6xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : memref<4x2x3xf32>)
// CHECK-NOT: memref.copy
// CHECK: return %[[X]] : memref<4x6xf32>
// CHECK-LABEL: func.func private @other_shape(
// CHECK: memref.copy
func.func private @back(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
func.func private @other_shape(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}
