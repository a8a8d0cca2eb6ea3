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
