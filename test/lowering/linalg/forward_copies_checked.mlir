// RUN: dlc-opt %s --linalg-forward-copies --linalg-hoist-checks | filecheck %s
// A concat whose parts have equal sizes as far as its checks see to that is inlined with them: parts are written in place.

// Rows and columns of the second part are each of two numbers, one beside the other.
// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[X:.*]]: memref<?x32xf32>, %[[P:.*]]: memref<?x32xf32>
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[M:.*]] = memref.dim %[[P]], %c0
// CHECK: %[[T:.*]] = arith.muli %[[M]], %c2
// CHECK: cf.assert %{{.*}}, "rows are {} and {}"
// CHECK: %[[C:.*]] = memref.alloc(%[[N]]) : memref<?x64xf32>
// CHECK: %[[A:.*]] = memref.subview %[[C]][0, 0] [%[[N]], 32] [1, 1]
// CHECK: call @exp_view1(%[[X]], %
// CHECK: %[[B:.*]] = memref.subview %[[C]][0, 32] [%[[T]], 32] [1, 1]
// CHECK: %[[E:.*]] = memref.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape [%[[M]], 2, 32]
// CHECK: memref.subview %[[E]][0, 0, 0] [%[[M]], 1, 32]
// CHECK-NOT: memref.copy {{.*}} to memref<?x32xf32, strided<[64, 1], offset: 32>>
// CHECK: return %[[C]]
func.func @concat(%x: memref<?x32xf32>, %p: memref<?x32xf32>) -> memref<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x32xf32>
  %m = memref.dim %p, %c0 : memref<?x32xf32>
  %a = memref.alloc(%n) : memref<?x32xf32>
  call @exp(%x, %a) : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  %b = memref.alloc(%m) : memref<?x2x32xf32>
  %s = memref.subview %b[0, 0, 0] [%m, 1, 32] [1, 1, 1] : memref<?x2x32xf32> to memref<?x32xf32, strided<[64, 1]>>
  memref.copy %p, %s : memref<?x32xf32> to memref<?x32xf32, strided<[64, 1]>>
  %t = memref.subview %b[0, 1, 0] [%m, 1, 32] [1, 1, 1] : memref<?x2x32xf32> to memref<?x32xf32, strided<[64, 1], offset: 32>>
  memref.copy %p, %t : memref<?x32xf32> to memref<?x32xf32, strided<[64, 1], offset: 32>>
  %rows = memref.collapse_shape %b [[0, 1], [2]] : memref<?x2x32xf32> into memref<?x32xf32>
  %c = memref.alloc(%n) : memref<?x64xf32>
  call @join(%a, %rows, %c) : (memref<?x32xf32>, memref<?x32xf32>, memref<?x64xf32>) -> ()
  return %c : memref<?x64xf32>
}
func.func private @exp(%x: memref<?x32xf32> {llvm.noalias}, %a: memref<?x32xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x32xf32>) outs(%a : memref<?x32xf32>)
  return
}
func.func private @join(%a: memref<?x32xf32> {llvm.noalias}, %b: memref<?x32xf32> {llvm.noalias}, %c: memref<?x64xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x32xf32>
  %m = memref.dim %b, %c0 : memref<?x32xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "rows are {} and {}"
  %s = memref.subview %c[0, 0] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1]>>
  memref.copy %a, %s : memref<?x32xf32> to memref<?x32xf32, strided<[64, 1]>>
  %t = memref.subview %c[0, 32] [%m, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: 32>>
  memref.copy %b, %t : memref<?x32xf32> to memref<?x32xf32, strided<[64, 1], offset: 32>>
  return
}
