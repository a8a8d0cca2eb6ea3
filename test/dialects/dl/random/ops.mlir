// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Random numbers, static and dynamic.

// CHECK-LABEL: func.func @random_uniform(
// CHECK: "dl.random_uniform"(%arg0) {seed = 7 : i64} : (tensor<2x3xi64>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.random_uniform"(%arg1) {high = 2.000000e+00 : f64, low = -1.000000e+00 : f64, seed = 7 : i64, to = f64} : (tensor<?x3xf32>) -> tensor<?x3xf64>
func.func @random_uniform(%arg0: tensor<2x3xi64>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf64>) {
  %0 = "dl.random_uniform"(%arg0) {seed = 7 : i64} : (tensor<2x3xi64>) -> tensor<2x3xf32>
  %1 = "dl.random_uniform"(%arg1) {high = 2.0 : f64, low = -1.0 : f64, seed = 7 : i64, to = f64} : (tensor<?x3xf32>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf64>
}
