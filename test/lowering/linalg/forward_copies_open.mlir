// RUN: dlc-opt %s --linalg-forward-copies | filecheck %s
// Views undo reshapes of buffers of open sizes as far as the sizes are at hand.

// A result is written as it is returned, though it has an axis of one more.
// CHECK-LABEL: func.func @expanded(
// CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}) : memref<?x1x4xf32>
// CHECK: %[[A:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]] : memref<?x1x4xf32> into memref<?x4xf32>
// CHECK: call @fill(%{{.*}}, %[[A]])
// CHECK-NOT: memref.copy
// CHECK: return %[[Y]]
func.func @expanded(%x: memref<?x4xf32>) -> memref<?x1x4xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  call @fill(%x, %a) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  %e = memref.expand_shape %a [[0], [1, 2]] output_shape [%n, 1, 4] : memref<?x4xf32> into memref<?x1x4xf32>
  %m = memref.dim %e, %c0 : memref<?x1x4xf32>
  %y = memref.alloc(%m) : memref<?x1x4xf32>
  memref.copy %e, %y : memref<?x1x4xf32> to memref<?x1x4xf32>
  return %y : memref<?x1x4xf32>
}

// Blocks of columns are joined, and the open size stays by itself: the kernel writes them where the concat has them.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[Y:.*]] = memref.alloc(%[[N]]) : memref<?x256xf32>
// CHECK: %[[S:.*]] = memref.subview %[[Y]][0, 128] [%[[N]], 128]
// CHECK: %[[E:.*]] = memref.expand_shape %[[S]] {{\[\[}}0], [1, 2]] output_shape [%[[N]], 2, 64]
// CHECK: %[[A:.*]] = memref.cast %[[E]]
// CHECK: call @fill_blocks_view1(%{{.*}}, %[[A]])
// CHECK-NOT: memref.copy
// CHECK: return %[[Y]]
func.func @blocks(%x: memref<?x2x64xf32>) -> memref<?x256xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2x64xf32>
  %a = memref.alloc(%n) : memref<?x2x64xf32>
  call @fill_blocks(%x, %a) : (memref<?x2x64xf32>, memref<?x2x64xf32>) -> ()
  %c = memref.collapse_shape %a [[0], [1, 2]] : memref<?x2x64xf32> into memref<?x128xf32>
  %y = memref.alloc(%n) : memref<?x256xf32>
  %s = memref.subview %y[0, 128] [%n, 128] [1, 1] : memref<?x256xf32> to memref<?x128xf32, strided<[256, 1], offset: 128>>
  memref.copy %c, %s : memref<?x128xf32> to memref<?x128xf32, strided<[256, 1], offset: 128>>
  return %y : memref<?x256xf32>
}

// no-match: which part of the rows each axis has is not known between two reshapes.
// CHECK-LABEL: func.func @split(
// CHECK: call @fill_pairs
// CHECK: memref.copy
// CHECK: return
func.func @split(%x: memref<?x?x4xf32>, %n: index, %m: index, %k: index) -> memref<?x2x2xf32> {
  %a = memref.alloc(%n, %m) : memref<?x?x4xf32>
  call @fill_pairs(%x, %a) : (memref<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  %c = memref.collapse_shape %a [[0, 1], [2]] : memref<?x?x4xf32> into memref<?x4xf32>
  %d = memref.expand_shape %c [[0], [1, 2]] output_shape [%k, 2, 2] : memref<?x4xf32> into memref<?x2x2xf32>
  %y = memref.alloc(%k) : memref<?x2x2xf32>
  memref.copy %d, %y : memref<?x2x2xf32> to memref<?x2x2xf32>
  return %y : memref<?x2x2xf32>
}
func.func private @fill(%x: memref<?x4xf32> {llvm.noalias}, %a: memref<?x4xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
  return
}
func.func private @fill_pairs(%x: memref<?x?x4xf32> {llvm.noalias}, %a: memref<?x?x4xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x?x4xf32>) outs(%a : memref<?x?x4xf32>)
  return
}
func.func private @fill_blocks(%x: memref<?x2x64xf32> {llvm.noalias}, %a: memref<?x2x64xf32> {dl.result, llvm.noalias}) attributes {dl.kernel} {
  linalg.exp ins(%x : memref<?x2x64xf32>) outs(%a : memref<?x2x64xf32>)
  return
}
