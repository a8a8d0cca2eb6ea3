// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// What a loop writes row by row lies where it is joined from the start; its rows are views with an axis less.

// CHECK-LABEL: func.func @rows(
// CHECK: %[[Y:.*]] = memref.alloc() : memref<8x2x128xf32>
// CHECK: %[[W:.*]] = memref.subview %[[Y]][0, 1, 0] [8, 1, 128] [1, 1, 1]
// CHECK: %[[A:.*]] = memref.collapse_shape %[[W]]
// CHECK-SAME: into memref<8x128xf32, strided<[256, 1], offset: 128>>
// CHECK: scf.for %[[I:.*]] =
// CHECK: memref.subview %[[A]][%[[I]], 0] [1, 128] [1, 1]
// CHECK-SAME: to memref<128xf32, strided<[1], offset: ?>>
// CHECK-NOT: memref.copy
// CHECK: return %[[Y]]
func.func @rows(%x: memref<128xf32>) -> memref<8x2x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<8x128xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %r = memref.subview %a[%i, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    linalg.exp ins(%x : memref<128xf32>) outs(%r : memref<128xf32, strided<[1], offset: ?>>)
  }
  %e = memref.expand_shape %a [[0], [1, 2]] output_shape [8, 1, 128] : memref<8x128xf32> into memref<8x1x128xf32>
  %y = memref.alloc() : memref<8x2x128xf32>
  %t = memref.subview %y[0, 1, 0] [8, 1, 128] [1, 1, 1] : memref<8x2x128xf32> to memref<8x1x128xf32, strided<[256, 128, 1], offset: 128>>
  memref.copy %e, %t : memref<8x1x128xf32> to memref<8x1x128xf32, strided<[256, 128, 1], offset: 128>>
  return %y : memref<8x2x128xf32>
}

// no-match: one of two axes of size 1 is left out of the rows, and types do not say which.
// CHECK-LABEL: func.func @one_of_two(
// CHECK: memref.copy
// CHECK: return
func.func @one_of_two(%x: memref<1x128xf32>) -> memref<8x2x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<8x1x128xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %r = memref.subview %a[%i, 0, 0] [1, 1, 128] [1, 1, 1] : memref<8x1x128xf32> to memref<1x128xf32, strided<[128, 1], offset: ?>>
    linalg.exp ins(%x : memref<1x128xf32>) outs(%r : memref<1x128xf32, strided<[128, 1], offset: ?>>)
  }
  %y = memref.alloc() : memref<8x2x128xf32>
  %t = memref.subview %y[0, 1, 0] [8, 1, 128] [1, 1, 1] : memref<8x2x128xf32> to memref<8x1x128xf32, strided<[256, 128, 1], offset: 128>>
  memref.copy %a, %t : memref<8x1x128xf32> to memref<8x1x128xf32, strided<[256, 128, 1], offset: 128>>
  return %y : memref<8x2x128xf32>
}

// What a step makes for a slice is written there; the step touches the whole in no other way.
// CHECK-LABEL: func.func @steps(
// CHECK: scf.for %[[J:.*]] =
// CHECK-NEXT: %[[R:.*]] = memref.subview %{{.*}}[%[[J]], 0] [1, 128] [1, 1]
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[R]] :
// CHECK-NOT: memref.copy
// CHECK: return
func.func @steps(%x: memref<128xf32>) -> memref<8x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<8x128xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.alloc() : memref<128xf32>
    linalg.exp ins(%x : memref<128xf32>) outs(%a : memref<128xf32>)
    %r = memref.subview %y[%i, 0] [1, 128] [1, 1] : memref<8x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    memref.copy %a, %r : memref<128xf32> to memref<128xf32, strided<[1], offset: ?>>
  }
  return %y : memref<8x128xf32>
}
