// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Samples of images and of volumes, static and dynamic.

// CHECK-LABEL: func.func @grid_sample(
// CHECK: "dl.grid_sample"(%arg0, %arg1) : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
// CHECK-NEXT: "dl.grid_sample"(%arg2, %arg3) {coordinates = "align_corners", mode = "nearest", padding = "border"} : (tensor<?x3x?x4x5xui8>, tensor<?x6x7x8x3xf64>) -> tensor<?x3x6x7x8xui8>
func.func @grid_sample(%x: tensor<1x3x4x5xf32>, %grid: tensor<1x6x7x2xf32>, %volume: tensor<?x3x?x4x5xui8>, %points: tensor<?x6x7x8x3xf64>)
    -> (tensor<1x3x6x7xf32>, tensor<?x3x6x7x8xui8>) {
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  %1 = "dl.grid_sample"(%volume, %points) {coordinates = "align_corners", mode = "nearest", padding = "border"} : (tensor<?x3x?x4x5xui8>, tensor<?x6x7x8x3xf64>) -> tensor<?x3x6x7x8xui8>
  return %0, %1 : tensor<1x3x6x7xf32>, tensor<?x3x6x7x8xui8>
}
