// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Coordinates become tables of one entry a point, which all channels read.

// CHECK-LABEL: func.func @linear(
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x6x7xi64>, tensor<1x6x7xi64>, tensor<1x6x7xf32>, tensor<1x6x7xf32>)
// CHECK: math.floor
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x6x7xi64>, tensor<1x6x7xi64>, tensor<1x6x7xf32>, tensor<1x6x7xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x3x6x7xf32>)
// CHECK-COUNT-4: tensor.extract %arg0
// CHECK-NOT: tensor.extract
func.func @linear(%x: tensor<1x3x4x5xf32>, %grid: tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32> {
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  return %0 : tensor<1x3x6x7xf32>
}

// The nearest element needs no weights; sizes that are dynamic are compared at run time.
// CHECK-LABEL: func.func @nearest(
// CHECK: cf.assert {{.*}}grid dim 0 is {} but x dim 0 is {}
// CHECK: math.roundeven
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<?x3x6x7xi8>)
// CHECK: tensor.extract %arg0
func.func @nearest(%x: tensor<?x3x?x5xui8>, %grid: tensor<?x6x7x2xf16>) -> tensor<?x3x6x7xui8> {
  %0 = "dl.grid_sample"(%x, %grid) {mode = "nearest", padding = "reflection"} : (tensor<?x3x?x5xui8>, tensor<?x6x7x2xf16>) -> tensor<?x3x6x7xui8>
  return %0 : tensor<?x3x6x7xui8>
}
