// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Each op of the family prints as it parses, and leaves out attributes that have their defaults.

// CHECK-LABEL: func.func @nonzero(
// CHECK: "dl.nonzero"(%arg0) : (tensor<?x4xf16>) -> tensor<2x?xi64>
func.func @nonzero(%arg0: tensor<?x4xf16>) -> tensor<2x?xi64> {
  %0 = "dl.nonzero"(%arg0) : (tensor<?x4xf16>) -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}

// CHECK-LABEL: func.func @compress(
// CHECK: "dl.compress"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<?x4xf32>
func.func @compress(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi1>) -> tensor<?x4xf32> {
  %0 = "dl.compress"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @unique(
// CHECK: "dl.unique"(%arg0) {axis = 1 : i64, sorted = false} : (tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
func.func @unique(%arg0: tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<?xi64>) {
  %0:4 = "dl.unique"(%arg0) {axis = 1 : i64, sorted = false} : (tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  return %0#0, %0#3 : tensor<2x?xi8>, tensor<?xi64>
}

// CHECK-LABEL: func.func @non_max_suppression(
// CHECK: "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3, %arg3) {center_point_box = true}
// CHECK-NEXT: "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3) : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
func.func @non_max_suppression(%arg0: tensor<1x9x4xf32>, %arg1: tensor<1x2x9xf32>, %arg2: tensor<i64>, %arg3: tensor<f32>) -> (tensor<?x3xi64>, tensor<?x3xi64>) {
  %0 = "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3, %arg3) {center_point_box = true} : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  %1 = "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3) : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return %0, %1 : tensor<?x3xi64>, tensor<?x3xi64>
}
