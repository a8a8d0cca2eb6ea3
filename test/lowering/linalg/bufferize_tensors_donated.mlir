// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-bufferize-tensors --canonicalize --cse | filecheck %s
// An argument that the caller gives away is written in place and returned; any other is copied.

// CHECK-LABEL: func.func @donated
// CHECK-SAME: (%[[X:.*]]: memref<8x4xf32> {dl.donated}, %[[U:.*]]: memref<1x4xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[S:.*]] = memref.subview %[[X]]
// CHECK: memref.copy %[[U]], %[[S]]
// CHECK: return %[[X]]
func.func @donated(%x: tensor<8x4xf32> {dl.donated}, %u: tensor<1x4xf32>, %at: index) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %u into %x[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// In a loop, and in a function of its own, it is still the same memory.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: memref<8x4xf32> {dl.donated}
// CHECK-NOT: memref.alloc
// CHECK: return %[[X]]
func.func private @write(%x: tensor<8x4xf32>, %u: tensor<1x4xf32>, %at: index) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %u into %x[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @rows(%x: tensor<8x4xf32> {dl.donated}, %u: tensor<1x4xf32>, %n: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8x4xf32>) {
    %1 = func.call @write(%t, %u, %i) : (tensor<8x4xf32>, tensor<1x4xf32>, index) -> tensor<8x4xf32>
    scf.yield %1 : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}

// no-match: an argument without the mark, and the second result in one donated argument, are copied. It refuses nothing.
// CHECK-LABEL: func.func @kept
// CHECK: memref.alloc
// CHECK: memref.copy
// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: return %[[X]], %[[COPY]]
func.func @kept(%x: tensor<8x4xf32>, %u: tensor<1x4xf32>, %at: index) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %u into %x[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @twice(%x: tensor<4xf32> {dl.donated}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
