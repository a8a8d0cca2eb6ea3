// RUN: dlc-opt %s --linalg-collapse-dims --mlir-print-local-scope --split-input-file --verify-diagnostics | filecheck %s
// Loops over neighbouring memory become one, loops of one iteration go.

// CHECK-LABEL: func.func private @elementwise(
// CHECK-SAME: %[[X:.*]]: memref<2x3x7xf32>, %[[Y:.*]]: memref<2x3x7xf32>
// CHECK: %[[A:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1, 2]] : memref<2x3x7xf32> into memref<42xf32>
// CHECK: %[[B:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1, 2]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[A]] : memref<42xf32>) outs(%[[B]] : memref<42xf32>)
func.func private @elementwise(%x: memref<2x3x7xf32>, %y: memref<2x3x7xf32>) {
  linalg.exp ins(%x : memref<2x3x7xf32>) outs(%y : memref<2x3x7xf32>)
  return
}

// A bias keeps the channel apart from the pixels; a dynamic batch is no hindrance.
// CHECK-LABEL: func.func private @bias(
// CHECK: memref.collapse_shape {{.*}} : memref<?x3x7x7xf32> into memref<?x3x49xf32>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>
func.func private @bias(%x: memref<?x3x7x7xf32>, %b: memref<3xf32>, %y: memref<?x3x7x7xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %b : memref<?x3x7x7xf32>, memref<3xf32>) outs(%y : memref<?x3x7x7xf32>) {
  ^bb0(%v: f32, %c: f32, %old: f32):
    %s = arith.addf %v, %c : f32
    linalg.yield %s : f32
  }
  return
}

// A convolution by a 1x1 window is a matrix product.
// CHECK-LABEL: func.func private @pointwise(
// CHECK: memref.collapse_shape {{.*}} : memref<1x8x7x7xf32> into memref<1x8x49xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
func.func private @pointwise(%x: memref<1x8x7x7xf32>, %w: memref<4x8x1x1xf32>, %y: memref<1x4x7x7xf32>) {
  linalg.conv_2d_nchw_fchw ins(%x, %w : memref<1x8x7x7xf32>, memref<4x8x1x1xf32>) outs(%y : memref<1x4x7x7xf32>)
  return
}

// Rows of the view do not touch, and loop indices are asked for.
// CHECK-LABEL: func.func private @no_match(
// CHECK-NOT: collapse_shape
// CHECK: return
func.func private @no_match(%x: memref<4x7xf32, strided<[9, 1]>>, %y: memref<4x7xindex>) {
  linalg.exp ins(%x : memref<4x7xf32, strided<[9, 1]>>) outs(%x : memref<4x7xf32, strided<[9, 1]>>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<4x7xindex>) {
  ^bb0(%old: index):
    %i = linalg.index 1 : index
    linalg.yield %i : index
  }
  return
}

// As one loop, they would be more than any size says.
// CHECK-LABEL: func.func private @no_match_huge(
// CHECK-NOT: collapse_shape
// CHECK: return
func.func private @no_match_huge(%x: memref<4398046511104x4398046511104xf32>) {
  linalg.exp ins(%x : memref<4398046511104x4398046511104xf32>) outs(%x : memref<4398046511104x4398046511104xf32>)
  return
}

// One row of windows over an image of four rows: the taps are no single loop, for the image has more rows than the window.
// CHECK-LABEL: func.func private @window_of_the_whole_width(
// CHECK-NOT: collapse_shape %{{.*}} : memref<1x2x4x3xf32>
// CHECK: return
func.func private @window_of_the_whole_width(%x: memref<1x2x4x3xf32>, %w: memref<5x2x3x3xf32>, %y: memref<1x5x1x1xf32>) {
  linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%x, %w : memref<1x2x4x3xf32>, memref<5x2x3x3xf32>) outs(%y : memref<1x5x1x1xf32>)
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{linalg-collapse-dims needs memrefs; run linalg-bufferize-tensors first}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
