// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize | filecheck %s
// An element of the image is a reduction over the taps that may see it.

// CHECK-LABEL: func.func @col2im(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} {{.*}} outs(%{{.*}} : tensor<1x2x3x4xf32>)
// CHECK: tensor.extract %arg0
// CHECK: arith.select
// CHECK: arith.addf
func.func @col2im(%x: tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32> {
  %0 = "dl.col2im"(%x) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}
