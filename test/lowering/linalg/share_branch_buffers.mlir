// RUN: dlc-opt %s --linalg-share-branch-buffers --split-input-file --verify-diagnostics | filecheck %s
// What both sides of a branch give in one size lies in one buffer, made before the branch.

// CHECK-LABEL: func.func @alike
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<1x?x4xf32>
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[R:.*]] = memref.alloc(%[[N]]) : memref<1x?x4xf32>
// CHECK: scf.if %{{.*}} {
// CHECK: %[[A:[a-z_0-9]*]] = memref.alloc
// CHECK-NEXT: memref.copy %[[A]], %[[R]]
// CHECK: } else {
// CHECK: %[[B:[a-z_0-9]*]] = memref.collapse_shape
// CHECK-NEXT: memref.copy %[[B]], %[[R]]
// CHECK-NOT: scf.yield
// CHECK: memref.copy %[[R]]
func.func @alike(%x: memref<1x?x4xf32>, %p: i1, %y: memref<1x?x4xf32>) {
  %c1 = arith.constant 1 : index
  %r = scf.if %p -> (memref<1x?x4xf32>) {
    %n = memref.dim %x, %c1 : memref<1x?x4xf32>
    %b = memref.alloc(%n) : memref<1x?x4xf32>
    scf.yield %b : memref<1x?x4xf32>
  } else {
    %n = memref.dim %x, %c1 : memref<1x?x4xf32>
    %b = memref.alloc(%n) : memref<1x?x2x2xf32>
    %c = memref.collapse_shape %b [[0], [1], [2, 3]] : memref<1x?x2x2xf32> into memref<1x?x4xf32>
    scf.yield %c : memref<1x?x4xf32>
  }
  memref.copy %r, %y : memref<1x?x4xf32> to memref<1x?x4xf32>
  return
}

// -----

// no-match: one side gives an element more.
// CHECK-LABEL: func.func @longer
// CHECK: %[[R:.*]] = scf.if
// CHECK: memref.copy %[[R]]
func.func @longer(%x: memref<?xf32>, %n: index, %p: i1, %y: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %r = scf.if %p -> (memref<?xf32>) {
    %b = memref.alloc(%n) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  } else {
    %m = arith.addi %n, %c1 : index
    %b = memref.alloc(%m) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  memref.copy %r, %y : memref<?xf32> to memref<?xf32>
  return
}

// -----

// What has a known size on one side alone stays beside what is shared.
// CHECK-LABEL: func.func @known
// CHECK: %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[S:.*]] = scf.if %{{.*}} -> (memref<?xf32>) {
// CHECK: memref.copy %{{.*}}, %[[R]]
// CHECK: scf.yield %{{.*}} : memref<?xf32>
// CHECK: return %[[R]], %[[S]]
func.func @known(%x: memref<4xf32>, %y: memref<?xf32>, %p: i1) -> (memref<4xf32>, memref<?xf32>) {
  %r:2 = scf.if %p -> (memref<4xf32>, memref<?xf32>) {
    %b = memref.alloc() : memref<4xf32>
    %c = memref.cast %b : memref<4xf32> to memref<?xf32>
    scf.yield %b, %c : memref<4xf32>, memref<?xf32>
  } else {
    scf.yield %x, %y : memref<4xf32>, memref<?xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<?xf32>
}

// -----

func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs buffers, found 'linalg.exp' on tensors}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
