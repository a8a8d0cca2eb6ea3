// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --linalg-materialize-copies | filecheck %s
// In kernels for a GPU contiguous copies become linalg ops, too, where sizes can bound affine loops. The pass refuses nothing.

// CHECK-LABEL: func.func private @kernel(
// CHECK: linalg.generic
// CHECK-NOT: memref.copy
func.func private @kernel(%a: memref<?xf32>, %b: memref<?xf32>) attributes {dl.kernel} {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}

// CHECK-LABEL: func.func private @known(
// CHECK: scf.for
// CHECK: linalg.generic
func.func private @known(%a: memref<8xf32>, %n: index) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<8xf32>
    memref.copy %a, %b : memref<8xf32> to memref<8xf32>
    memref.dealloc %b : memref<8xf32>
  }
  return
}

// no-match: a loop carries the memory, so that its size is none of the function's.
// CHECK-LABEL: func.func private @carried(
// CHECK: scf.for
// CHECK: memref.copy
// CHECK-NOT: linalg.generic
func.func private @carried(%a: memref<?xf32>, %n: index) -> memref<?xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%last = %a) -> (memref<?xf32>) {
    %size = memref.dim %last, %c0 : memref<?xf32>
    %next = memref.alloc(%size) : memref<?xf32>
    memref.copy %last, %next : memref<?xf32> to memref<?xf32>
    scf.yield %next : memref<?xf32>
  }
  return %0 : memref<?xf32>
}

// The host's own copies between views become linalg ops in loops, too: those get kernels of their own.
// CHECK-LABEL: func.func @entry(
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-NOT: memref.copy
func.func @entry(%a: memref<?xf32>, %b: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = memref.alloc(%n) : memref<?xf32>
    %row = memref.subview %b[%i, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.copy %next, %row : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.dealloc %next : memref<?xf32>
  }
  return
}
