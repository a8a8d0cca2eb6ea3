// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// Slices whose sizes an inlined concat asks of the buffers that become them.

// CHECK-LABEL: func.func @concat(
// CHECK: %[[N:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[C:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK-DAG: %[[A:.*]] = memref.subview %[[C]][0, 0] [%[[N]], 4] [1, 1]
// CHECK-DAG: %[[B:.*]] = memref.subview %[[C]][%[[N]], 0] [%[[N]], 4] [1, 1]
// CHECK: call @fill_two
// CHECK-NOT: memref.copy
// CHECK: return %[[C]]
func.func @concat(%x: memref<?x4xf32>) -> memref<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  %b = memref.alloc(%n) : memref<?x4xf32>
  call @fill_two(%x, %a, %b) : (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>) -> ()
  %m = arith.addi %n, %n : index
  %c = memref.alloc(%m) : memref<?x4xf32>
  call @join(%a, %b, %c) : (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>) -> ()
  return %c : memref<?x4xf32>
}
func.func private @fill_two(%x: memref<?x4xf32> {llvm.noalias}, %a: memref<?x4xf32> {dl.result, llvm.noalias}, %b: memref<?x4xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
  linalg.tanh ins(%x : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
  return
}
func.func private @join(%a: memref<?x4xf32> {llvm.noalias}, %b: memref<?x4xf32> {llvm.noalias}, %c: memref<?x4xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x4xf32>
  %m = memref.dim %b, %c0 : memref<?x4xf32>
  %s = memref.subview %c[0, 0] [%n, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1]>>
  memref.copy %a, %s : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1]>>
  %t = memref.subview %c[%n, 0] [%m, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %b, %t : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}
