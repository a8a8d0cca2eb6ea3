// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Regions of images, static and dynamic.

// CHECK-LABEL: func.func @roi_align(
// CHECK: "dl.roi_align"(%arg0, %arg1, %arg2) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
// CHECK-NEXT: "dl.roi_align"(%arg3, %arg4, %arg5) {coordinates = "output_half_pixel", mode = "max", sampling_ratio = 2 : i64, size = array<i64: 1, 1>, spatial_scale = 5.000000e-01 : f64} : (tensor<?x?x?x?xf16>, tensor<?x4xf16>, tensor<?xi32>) -> tensor<?x?x1x1xf16>
func.func @roi_align(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>, %y: tensor<?x?x?x?xf16>, %regions: tensor<?x4xf16>, %which: tensor<?xi32>)
    -> (tensor<4x3x7x5xf32>, tensor<?x?x1x1xf16>) {
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  %1 = "dl.roi_align"(%y, %regions, %which) {coordinates = "output_half_pixel", mode = "max", sampling_ratio = 2 : i64, size = array<i64: 1, 1>, spatial_scale = 0.5 : f64} : (tensor<?x?x?x?xf16>, tensor<?x4xf16>, tensor<?xi32>) -> tensor<?x?x1x1xf16>
  return %0, %1 : tensor<4x3x7x5xf32>, tensor<?x?x1x1xf16>
}

// CHECK-LABEL: func.func @max_roi_pool(
// CHECK: "dl.max_roi_pool"(%arg0, %arg1) {size = array<i64: 2, 3>} : (tensor<2x3x8x9xf32>, tensor<?x5xf32>) -> tensor<?x3x2x3xf32>
func.func @max_roi_pool(%x: tensor<2x3x8x9xf32>, %rois: tensor<?x5xf32>) -> tensor<?x3x2x3xf32> {
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 2, 3>} : (tensor<2x3x8x9xf32>, tensor<?x5xf32>) -> tensor<?x3x2x3xf32>
  return %0 : tensor<?x3x2x3xf32>
}
