// RUN: dlc-opt %s --linalg-collapse-dims --split-input-file | filecheck %s
// RUN: dlc-opt %s --linalg-forward-copies --split-input-file | filecheck %s --check-prefix=COPIES
// no-match: in a layout that has no strides, axes stay apart and copies stay.

#tiles = affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>
// CHECK-LABEL: func.func @tiled(
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: memref.copy
// COPIES-LABEL: func.func @tiled(
// COPIES: linalg.exp
// COPIES: memref.copy
func.func @tiled(%x: memref<4x4xf32, #tiles>) -> memref<4x4xf32, #tiles> {
  %y = memref.alloc() : memref<4x4xf32, #tiles>
  linalg.exp ins(%x : memref<4x4xf32, #tiles>) outs(%y : memref<4x4xf32, #tiles>)
  %w = memref.alloc() : memref<4x4xf32, #tiles>
  memref.copy %y, %w : memref<4x4xf32, #tiles> to memref<4x4xf32, #tiles>
  return %w : memref<4x4xf32, #tiles>
}

// -----

// Columns that follow each other in memory are no row.
// CHECK-LABEL: func.func @columns(
// CHECK: iterator_types = ["parallel", "parallel"]
func.func @columns(%x: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, %y: memref<4x4xf32>) {
  linalg.exp ins(%x : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) outs(%y : memref<4x4xf32>)
  return
}
