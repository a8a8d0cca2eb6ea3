// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Columns put together, static and dynamic.

// CHECK-LABEL: func.func @col2im(
// CHECK: "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: "dl.col2im"(%arg1) {image = array<i64: 5>, kernel = array<i64: 2>, strides = array<i64: 3>} : (tensor<?x?x2xi8>) -> tensor<?x?x5xi8>
func.func @col2im(%arg0: tensor<1x8x6xf32>, %arg1: tensor<?x?x2xi8>) -> (tensor<1x2x3x4xf32>, tensor<?x?x5xi8>) {
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32>
  %1 = "dl.col2im"(%arg1) {image = array<i64: 5>, kernel = array<i64: 2>, strides = array<i64: 3>} : (tensor<?x?x2xi8>) -> tensor<?x?x5xi8>
  return %0, %1 : tensor<1x2x3x4xf32>, tensor<?x?x5xi8>
}
