// RUN: dlc-opt %s --linalg-insert-deallocs --split-input-file --verify-diagnostics | filecheck %s
// Buffers are freed after their last use, through views, calls, branches and loops; results stay.

func.func private @kernel(memref<4xf32>, memref<4xf32>)

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>)
// CHECK: %[[A:.*]] = memref.alloc
// CHECK-NEXT: call @kernel(%[[X]], %[[A]])
// CHECK-NEXT: %[[B:.*]] = memref.alloc
// CHECK-NEXT: call @kernel(%[[A]], %[[B]])
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK-NEXT: call @kernel(%[[B]], %[[C]])
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NOT: memref.dealloc
// CHECK: return %[[C]]
func.func @chain(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  call @kernel(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  call @kernel(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  call @kernel(%b, %c) : (memref<4xf32>, memref<4xf32>) -> ()
  return %c : memref<4xf32>
}

// CHECK-LABEL: func.func @through_view(
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[V:.*]] = memref.collapse_shape %[[A]]
// CHECK: call @kernel(%[[V]]
// CHECK-NEXT: memref.dealloc %[[A]]
func.func @through_view(%y: memref<4xf32>) {
  %a = memref.alloc() : memref<2x2xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  call @kernel(%y, %v) : (memref<4xf32>, memref<4xf32>) -> ()
  call @kernel(%v, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// A use in a branch keeps the buffer until the branch has ended; the branch frees its own.
// CHECK-LABEL: func.func @branch(
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: scf.if
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: func.call @kernel(%[[A]], %[[B]])
// CHECK: memref.dealloc %[[B]]
// CHECK: }
// CHECK: memref.dealloc %[[A]]
func.func @branch(%c: i1, %x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  call @kernel(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  scf.if %c {
    %b = memref.alloc() : memref<4xf32>
    func.call @kernel(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    func.call @kernel(%b, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @no_match(
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @no_match(%x: memref<4xf32>, %y: memref<4xf32>) {
  call @kernel(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func private @kernel(memref<4xf32>, memref<4xf32>)

// A loop that hands a new buffer to its next turn frees the one before, if it is its own.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK-SAME: iter_args(%[[OLD:.*]] = %{{.*}}, %[[OWNED:.*]] = %{{.*}})
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK: func.call @kernel(%[[OLD]], %[[NEW]])
// CHECK: scf.if %[[OWNED]]
// CHECK: memref.dealloc
// CHECK: scf.yield %[[NEW]]
func.func @loop(%n: index, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %x) -> memref<4xf32> {
    %new = memref.alloc() : memref<4xf32>
    func.call @kernel(%old, %new) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %new : memref<4xf32>
  }
  call @kernel(%r, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @twice() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error @+1 {{needs buffers that nobody frees, found 'memref.dealloc'; run it only once}}
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

func.func @needs_buffers(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs buffers, found 'linalg.exp' on tensors; run linalg-bufferize-tensors first}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
