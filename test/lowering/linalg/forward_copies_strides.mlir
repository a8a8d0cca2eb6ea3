// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// An axis of an open size beside one of size 1 may be of size 1, too: joined, its stride is not known.

// Rows lie side by side still.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[S:.*]] = memref.subview
// CHECK: %[[A:.*]] = memref.collapse_shape %[[S]] {{\[\[}}0, 1], [2]] : memref<1x?x64xf32, strided<[?, 128, 1], offset: 64>> into memref<?x64xf32, strided<[?, 1], offset: 64>>
// CHECK: call @exp_view1
// CHECK-NOT: memref.copy
// CHECK: return
func.func @rows(%x: memref<?x64xf32>) -> memref<1x?x128xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %a = memref.alloc(%n) : memref<?x64xf32>
  call @exp(%x, %a) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  %e = memref.expand_shape %a [[0, 1], [2]] output_shape [1, %n, 64] : memref<?x64xf32> into memref<1x?x64xf32>
  %y = memref.alloc(%n) : memref<1x?x128xf32>
  %s = memref.subview %y[0, 0, 64] [1, %n, 64] [1, 1, 1] : memref<1x?x128xf32> to memref<1x?x64xf32, strided<[?, 128, 1], offset: 64>>
  memref.copy %e, %s : memref<1x?x64xf32> to memref<1x?x64xf32, strided<[?, 128, 1], offset: 64>>
  return %y : memref<1x?x128xf32>
}

// no-match: nobody would see that the elements of a row lie side by side.
// CHECK-LABEL: func.func @columns(
// CHECK: memref.alloc(%{{.*}}) : memref<64x?xf32>
// CHECK: memref.copy
// CHECK: return
func.func @columns(%x: memref<64x?xf32>) -> memref<128x1x?xf32> {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<64x?xf32>
  %a = memref.alloc(%n) : memref<64x?xf32>
  call @wide(%x, %a) : (memref<64x?xf32>, memref<64x?xf32>) -> ()
  %e = memref.expand_shape %a [[0], [1, 2]] output_shape [64, 1, %n] : memref<64x?xf32> into memref<64x1x?xf32>
  %y = memref.alloc(%n) : memref<128x1x?xf32>
  %s = memref.subview %y[1, 0, 0] [64, 1, %n] [2, 1, 1] : memref<128x1x?xf32> to memref<64x1x?xf32, strided<[?, ?, 1], offset: ?>>
  memref.copy %e, %s : memref<64x1x?xf32> to memref<64x1x?xf32, strided<[?, ?, 1], offset: ?>>
  return %y : memref<128x1x?xf32>
}
func.func private @exp(%x: memref<?x64xf32> {llvm.noalias}, %a: memref<?x64xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x64xf32>) outs(%a : memref<?x64xf32>)
  return
}
func.func private @wide(%x: memref<64x?xf32> {llvm.noalias}, %a: memref<64x?xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<64x?xf32>) outs(%a : memref<64x?xf32>)
  return
}
