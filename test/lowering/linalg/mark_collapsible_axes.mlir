// RUN: dlc-opt %s --linalg-mark-collapsible-axes --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %s --linalg-mark-collapsible-axes --linalg-collapse-dims --split-input-file --verify-diagnostics | filecheck %s --check-prefix=LOOPS
// Rows of pixels of some channels follow each other, which strides that run time knows do not say.

// CHECK-LABEL: func.func private @k(
// CHECK-SAME: {dl.collapsible = array<i64: 0, 2>, llvm.noalias}
// LOOPS-LABEL: func.func private @k(
// LOOPS: memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]]
// LOOPS-SAME: into memref<?x64xf32, strided<[?, 1], offset: ?>>
// LOOPS-NEXT: memref.cast %{{.*}} to memref<?x64xf32, strided<[128, 1], offset: ?>>
// LOOPS: iterator_types = ["parallel", "parallel"]
func.func private @k(%x: f32, %y: memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: ?>> {llvm.noalias}) {
  linalg.fill ins(%x : f32) outs(%y : memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: ?>>)
  return
}
func.func @image(%x: f32, %h: index, %w: index) -> memref<?x?x128xf32> {
  %y = memref.alloc(%h, %w) : memref<?x?x128xf32>
  %s = memref.subview %y[0, 0, 64] [%h, %w, 64] [1, 1, 1] : memref<?x?x128xf32> to memref<?x?x64xf32, strided<[?, 128, 1], offset: 64>>
  %e = memref.expand_shape %s [[0], [1], [2, 3]] output_shape [%h, %w, 4, 16]
    : memref<?x?x64xf32, strided<[?, 128, 1], offset: 64>> into memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: 64>>
  %c = memref.cast %e : memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: 64>> to memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: ?>>
  call @k(%x, %c) : (f32, memref<?x?x4x16xf32, strided<[?, 128, 16, 1], offset: ?>>) -> ()
  return %y : memref<?x?x128xf32>
}

// -----

// no-match: of two calls, one gives a window of fewer columns.
// CHECK-LABEL: func.func private @k(
// CHECK-NOT: dl.collapsible
// CHECK: return
// LOOPS-LABEL: func.func private @k(
// LOOPS: iterator_types = ["parallel", "parallel", "parallel"]
func.func private @k(%x: f32, %y: memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>) {
  linalg.fill ins(%x : f32) outs(%y : memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>)
  return
}
func.func @columns(%x: f32, %h: index, %w: index, %v: index) -> memref<?x?x128xf32> {
  %y = memref.alloc(%h, %w) : memref<?x?x128xf32>
  %s = memref.subview %y[0, 0, 0] [%h, %w, 64] [1, 1, 1] : memref<?x?x128xf32> to memref<?x?x64xf32, strided<[?, 128, 1]>>
  %c = memref.cast %s : memref<?x?x64xf32, strided<[?, 128, 1]>> to memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>
  call @k(%x, %c) : (f32, memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>) -> ()
  %t = memref.subview %y[0, 0, 0] [%h, %v, 64] [1, 1, 1] : memref<?x?x128xf32> to memref<?x?x64xf32, strided<[?, 128, 1]>>
  %d = memref.cast %t : memref<?x?x64xf32, strided<[?, 128, 1]>> to memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>
  call @k(%x, %d) : (f32, memref<?x?x64xf32, strided<[?, 128, 1], offset: ?>>) -> ()
  return %y : memref<?x?x128xf32>
}

// -----

func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs buffers, found 'linalg.exp' on tensors}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
