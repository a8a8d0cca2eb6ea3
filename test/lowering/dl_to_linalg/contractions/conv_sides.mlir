// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse --linalg-fuse-elementwise | filecheck %s --check-prefix=FUSED
// Pixels of sides that run time knows are one axis of the product, and axes of their own again before its blocks become channels:
// so what follows becomes one with the product.

// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x8xf32>
// CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0, 1, 2], [3]] : tensor<?x?x?x8xf32> into tensor<?x8xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2x16xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0, 1, 2], [3], [4]]
// CHECK: tensor.collapse_shape %[[E]] {{\[\[}}0], [1], [2], [3, 4]] : tensor<?x?x?x2x16xf32> into tensor<?x?x?x32xf32>

// FUSED-LABEL: func.func @pointwise(
// FUSED: arith.addf
// FUSED: arith.cmpf
// FUSED: } -> tensor<?x?x?x2x16xf32>
// FUSED: tensor.collapse_shape
func.func @pointwise(%x: tensor<?x?x?x8xf32>, %w: tensor<2x1x1x8x16xf32>) -> tensor<?x?x?x32xf32> {
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<?x?x?x8xf32>, tensor<2x1x1x8x16xf32>) -> tensor<?x?x?x32xf32>
  %1 = "dl.relu"(%0) : (tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
  return %1 : tensor<?x?x?x32xf32>
}
