// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// Copies of steps that stay. Refuses nothing.

// no-match: the step reads what the step before has written to the whole.
// CHECK-LABEL: func.func @reads_the_whole(
// CHECK: memref.copy
// CHECK: return
func.func @reads_the_whole() -> memref<8x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<8x128xf32>
  scf.for %i = %c1 to %c8 step %c1 {
    %a = memref.alloc() : memref<128xf32>
    %before = arith.subi %i, %c1 : index
    %p = memref.subview %y[%before, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    linalg.exp ins(%p : memref<128xf32, strided<[1], offset: ?>>) outs(%a : memref<128xf32>)
    %r = memref.subview %y[%i, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    memref.copy %a, %r : memref<128xf32> to memref<128xf32, strided<[1], offset: ?>>
  }
  return %y : memref<8x128xf32>
}

// no-match: the next step gets the row, too, in memory of its own.
// CHECK-LABEL: func.func @hands_on(
// CHECK: scf.for
// CHECK: memref.copy
// CHECK: scf.yield
func.func @hands_on(%x: memref<128xf32>) -> memref<8x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<8x128xf32>
  %s = memref.alloc() : memref<128xf32>
  linalg.exp ins(%x : memref<128xf32>) outs(%s : memref<128xf32>)
  %l = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %s) -> (memref<128xf32>) {
    %a = memref.alloc() : memref<128xf32>
    linalg.exp ins(%h : memref<128xf32>) outs(%a : memref<128xf32>)
    %r = memref.subview %y[%i, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    memref.copy %a, %r : memref<128xf32> to memref<128xf32, strided<[1], offset: ?>>
    scf.yield %a : memref<128xf32>
  }
  return %y : memref<8x128xf32>
}

// no-match: what was copied changes in the same step.
// CHECK-LABEL: func.func @changes_later(
// CHECK: memref.copy
// CHECK: return
func.func @changes_later(%x: memref<128xf32>, %z: memref<128xf32>) -> memref<8x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<8x128xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.alloc() : memref<128xf32>
    linalg.exp ins(%x : memref<128xf32>) outs(%a : memref<128xf32>)
    %r = memref.subview %y[%i, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    memref.copy %a, %r : memref<128xf32> to memref<128xf32, strided<[1], offset: ?>>
    linalg.tanh ins(%a : memref<128xf32>) outs(%a : memref<128xf32>)
    memref.copy %a, %z : memref<128xf32> to memref<128xf32>
  }
  return %y : memref<8x128xf32>
}
