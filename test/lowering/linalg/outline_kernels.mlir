// RUN: dlc-opt %s --linalg-outline-kernels --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s
// Computations become calls of private functions, with what prepares their buffers; equal ones share a function.

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32> {{.*}}, %[[B:.*]]: memref<8x4xf32>
// CHECK: %[[C:.*]] = memref.alloc
// CHECK-NEXT: call @kernel_0_matmul(%[[C]], %[[A]], %[[B]])
// CHECK-NEXT: return %[[C]]
func.func @matmul(%a: memref<4x8xf32>, %b: memref<8x4xf32>) -> memref<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
  return %c : memref<4x4xf32>
}
// CHECK-LABEL: func.func private @kernel_0_matmul(
// CHECK-SAME: %[[C:.*]]: memref<4x4xf32> {llvm.noalias} {{.*}}, %[[A:.*]]: memref<4x8xf32> {llvm.noalias} {{.*}}, %[[B:.*]]: memref<8x4xf32> {llvm.noalias}
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT: linalg.fill ins(%[[ZERO]] : f32) outs(%[[C]] : memref<4x4xf32>)
// CHECK-NEXT: linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] : memref<4x4xf32>)

// -----

// Two equal computations share one function, whose location names both.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK: call @kernel_0_exp(%[[X]], %[[A:.*]]) : {{.*}} loc("first"
// CHECK: call @kernel_0_exp(%[[A]], %[[B:.*]]) : {{.*}} loc("second"
// CHECK-NOT: kernel_1
// CHECK: linalg.exp
// CHECK: } loc(fused["first"{{.*}}, "second"
// CHECK-NOT: linalg.exp
func.func @shared(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) loc("first")
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) loc("second")
  return %b : memref<4xf32>
}

// -----

// A padded copy that only one computation reads is made inside its function.
// CHECK-LABEL: func.func @padded(
// CHECK-NOT: memref.subview
// CHECK: call @kernel_0_exp
// CHECK: func.func private @kernel_0_exp
// CHECK: %[[P:.*]] = memref.alloc() : memref<6xf32>
// CHECK: %[[V:.*]] = memref.subview %[[P]]
// CHECK: linalg.fill {{.*}} outs(%[[P]]
// CHECK: memref.copy %{{.*}}, %[[V]]
// CHECK: linalg.exp ins(%[[P]]
func.func @padded(%x: memref<4xf32>) -> memref<6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<6xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<6xf32>)
  %v = memref.subview %p[1] [4] [1] : memref<6xf32> to memref<4xf32, strided<[1], offset: 1>>
  memref.copy %x, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: 1>>
  %y = memref.alloc() : memref<6xf32>
  linalg.exp ins(%p : memref<6xf32>) outs(%y : memref<6xf32>)
  return %y : memref<6xf32>
}

// -----

// A copy does not move over a write of its source.
// CHECK-LABEL: func.func @source_changes(
// CHECK: memref.copy %[[A:.*]], %[[B:.*]] : memref<4xf32>
// CHECK-NEXT: call @kernel_0_exp(%{{.*}}, %[[A]])
// CHECK-NEXT: call @kernel_1_log(%[[B]],
func.func @source_changes(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.log ins(%b : memref<4xf32>) outs(%y : memref<4xf32>)
  memref.copy %a, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Two arguments of a function may share memory, so one that is written is not noalias; nor is what reads it.
// CHECK-LABEL: func.func @arguments(
// CHECK: func.func private @kernel_0_exp(
// CHECK-NOT: llvm.noalias
// CHECK: return
func.func @arguments(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// Computations inside control flow are outlined where they are; a loop of loads and stores is one kernel.
// CHECK-LABEL: func.func @control_flow(
// CHECK: scf.if
// CHECK-NEXT: func.call @kernel_1_exp
// CHECK: call @kernel_0_loop
// CHECK: func.func private @kernel_0_loop
// CHECK: scf.for
func.func @control_flow(%c: i1, %n: index, %x: memref<4xf32>, %y: memref<4xf32>) {
  scf.if %c {
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %y[%i] : memref<4xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @no_match(
// CHECK-NOT: call
// CHECK: memref.copy
// CHECK-NOT: func.func
func.func @no_match(%x: memref<4xf32>) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return %y : memref<4xf32>
}

// -----

func.func @needs_buffers(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs linalg on buffers, found 'linalg.exp' on tensors; run linalg-bufferize-tensors first}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A loop of copies moves with the views inside it; they read its variable.
// CHECK-LABEL: func.func @loop_of_copies
// CHECK: call @kernel_0_loop(
// CHECK: func.func private @kernel_0_loop(
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: memref.subview %{{.*}}[%[[I]], 0]
func.func @loop_of_copies(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?x4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    memref.copy %x, %s : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// A loop that counts stays where its count is used.
// CHECK-LABEL: func.func @counting_loop(
// CHECK-NOT: call
// CHECK: %[[N:.*]] = scf.while
// CHECK: return %[[N]]
// CHECK-NOT: func.func
func.func @counting_loop(%x: memref<4xi1>, %y: memref<4xi1>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = scf.while (%i = %c0) : (index) -> index {
    %more = memref.load %x[%i] : memref<4xi1>
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %v = memref.load %x[%i] : memref<4xi1>
    memref.store %v, %y[%i] : memref<4xi1>
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return %n : index
}
