// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// A buffer's own sizes are at hand, so that one reshape of it is undone whatever it joins.

// CHECK-LABEL: func.func @rows(
// CHECK: %[[N:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[M:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK: %[[E:.*]] = memref.expand_shape %[[Y]] {{\[\[}}0, 1], [2]] output_shape [%[[N]], %[[M]], 4]
// CHECK: call @fill_pairs(%{{.*}}, %[[E]])
// CHECK: return %[[Y]]
func.func @rows(%x: memref<?x?x4xf32>) -> memref<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?x4xf32>
  %m = memref.dim %x, %c1 : memref<?x?x4xf32>
  %a = memref.alloc(%n, %m) : memref<?x?x4xf32>
  call @fill_pairs(%x, %a) : (memref<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  %c = memref.collapse_shape %a [[0, 1], [2]] : memref<?x?x4xf32> into memref<?x4xf32>
  %k = arith.muli %n, %m : index
  %y = memref.alloc(%k) : memref<?x4xf32>
  memref.copy %c, %y : memref<?x4xf32> to memref<?x4xf32>
  return %y : memref<?x4xf32>
}

// no-match: the joined rows have another reader than the copy, and a strided buffer could not be seen as rows.
// CHECK-LABEL: func.func @read(
// CHECK: memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?x64xf32>
// CHECK: memref.copy
// CHECK: return
func.func @read(%x: memref<?x?x64xf32>, %n: index, %m: index, %k: index, %z: memref<?x64xf32>) -> memref<?x128xf32> {
  %a = memref.alloc(%n, %m) : memref<?x?x64xf32>
  call @fill_wide(%x, %a) : (memref<?x?x64xf32>, memref<?x?x64xf32>) -> ()
  %c = memref.collapse_shape %a [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  call @exp(%c, %z) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  %y = memref.alloc(%k) : memref<?x128xf32>
  %s = memref.subview %y[0, 64] [%k, 64] [1, 1] : memref<?x128xf32> to memref<?x64xf32, strided<[128, 1], offset: 64>>
  memref.copy %c, %s : memref<?x64xf32> to memref<?x64xf32, strided<[128, 1], offset: 64>>
  return %y : memref<?x128xf32>
}
func.func private @fill_pairs(%x: memref<?x?x4xf32> {llvm.noalias}, %a: memref<?x?x4xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x?x4xf32>) outs(%a : memref<?x?x4xf32>)
  return
}
func.func private @fill_wide(%x: memref<?x?x64xf32> {llvm.noalias}, %a: memref<?x?x64xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x?x64xf32>) outs(%a : memref<?x?x64xf32>)
  return
}
func.func private @exp(%x: memref<?x64xf32> {llvm.noalias}, %a: memref<?x64xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x64xf32>) outs(%a : memref<?x64xf32>)
  return
}
