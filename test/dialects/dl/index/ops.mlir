// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Reads and writes at positions, and selections, static and dynamic.

// CHECK-LABEL: func.func @gather(
// CHECK: "dl.gather"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
// CHECK-NEXT: "dl.gather"(%arg2, %arg3) {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<?x?xf32>
func.func @gather(%arg0: tensor<5x4xf32>, %arg1: tensor<2x3xi64>,
    %arg2: tensor<?x4xf32>, %arg3: tensor<?xi32>)
    -> (tensor<2x3x4xf32>, tensor<?x?xf32>) {
  %0 = "dl.gather"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %1 = "dl.gather"(%arg2, %arg3) {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<2x3x4xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather_elements(
// CHECK: "dl.gather_elements"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: "dl.gather_elements"(%arg2, %arg3) {axis = -1 : i64} : (tensor<?x?xi8>, tensor<?x3xi32>) -> tensor<?x3xi8>
func.func @gather_elements(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi64>,
    %arg2: tensor<?x?xi8>, %arg3: tensor<?x3xi32>)
    -> (tensor<2x4xf32>, tensor<?x3xi8>) {
  %0 = "dl.gather_elements"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  %1 = "dl.gather_elements"(%arg2, %arg3) {axis = -1 : i64} : (tensor<?x?xi8>, tensor<?x3xi32>) -> tensor<?x3xi8>
  return %0, %1 : tensor<2x4xf32>, tensor<?x3xi8>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK: "dl.gather_nd"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
// CHECK-NEXT: "dl.gather_nd"(%arg2, %arg3) {batch_dims = 1 : i64} : (tensor<?x4x?xf32>, tensor<?x3x1xi32>) -> tensor<?x3x?xf32>
func.func @gather_nd(%arg0: tensor<5x4xf32>, %arg1: tensor<3x1xi64>,
    %arg2: tensor<?x4x?xf32>, %arg3: tensor<?x3x1xi32>)
    -> (tensor<3x4xf32>, tensor<?x3x?xf32>) {
  %0 = "dl.gather_nd"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  %1 = "dl.gather_nd"(%arg2, %arg3) {batch_dims = 1 : i64} : (tensor<?x4x?xf32>, tensor<?x3x1xi32>) -> tensor<?x3x?xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_elements(
// CHECK: "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: "dl.scatter_elements"(%arg3, %arg4, %arg5) {axis = 1 : i64, reduction = "add"} : (tensor<?x4xf16>, tensor<?x4xi32>, tensor<?x4xf16>) -> tensor<?x4xf16>
func.func @scatter_elements(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi64>, %arg2: tensor<2x4xf32>,
    %arg3: tensor<?x4xf16>, %arg4: tensor<?x4xi32>, %arg5: tensor<?x4xf16>)
    -> (tensor<5x4xf32>, tensor<?x4xf16>) {
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<5x4xf32>
  %1 = "dl.scatter_elements"(%arg3, %arg4, %arg5) {axis = 1 : i64, reduction = "add"} : (tensor<?x4xf16>, tensor<?x4xi32>, tensor<?x4xf16>) -> tensor<?x4xf16>
  return %0, %1 : tensor<5x4xf32>, tensor<?x4xf16>
}

// CHECK-LABEL: func.func @scatter_nd(
// CHECK: "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: "dl.scatter_nd"(%arg3, %arg4, %arg5) {reduction = "max"} : (tensor<?x4xi64>, tensor<?x2xi32>, tensor<?xi64>) -> tensor<?x4xi64>
func.func @scatter_nd(%arg0: tensor<5x4xf32>, %arg1: tensor<3x1xi64>, %arg2: tensor<3x4xf32>,
    %arg3: tensor<?x4xi64>, %arg4: tensor<?x2xi32>, %arg5: tensor<?xi64>)
    -> (tensor<5x4xf32>, tensor<?x4xi64>) {
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1 = "dl.scatter_nd"(%arg3, %arg4, %arg5) {reduction = "max"} : (tensor<?x4xi64>, tensor<?x2xi32>, tensor<?xi64>) -> tensor<?x4xi64>
  return %0, %1 : tensor<5x4xf32>, tensor<?x4xi64>
}

// CHECK-LABEL: func.func @top_k(
// CHECK: "dl.top_k"(%arg0) {k = 2 : i64} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
// CHECK-NEXT: "dl.top_k"(%arg1) {axis = 0 : i64, k = 3 : i64, largest = false} : (tensor<?x?xi32>) -> (tensor<3x?xi32>, tensor<3x?xi64>)
func.func @top_k(%arg0: tensor<3x8xf32>, %arg1: tensor<?x?xi32>)
    -> (tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x?xi32>, tensor<3x?xi64>) {
  %0:2 = "dl.top_k"(%arg0) {k = 2 : i64} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %1:2 = "dl.top_k"(%arg1) {axis = 0 : i64, k = 3 : i64, largest = false} : (tensor<?x?xi32>) -> (tensor<3x?xi32>, tensor<3x?xi64>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x?xi32>, tensor<3x?xi64>
}

// CHECK-LABEL: func.func @update_slice(
// CHECK: "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x8x4xf32>
// CHECK-NEXT: "dl.update_slice"(%arg3, %arg4, %arg5) {axis = 1 : i64, circular = true} : (tensor<?x?xi32>, tensor<?x2xi32>, tensor<?xi32>) -> tensor<?x?xi32>
func.func @update_slice(%arg0: tensor<2x8x4xf32>, %arg1: tensor<2x1x4xf32>, %arg2: tensor<1xi64>,
    %arg3: tensor<?x?xi32>, %arg4: tensor<?x2xi32>, %arg5: tensor<?xi32>)
    -> (tensor<2x8x4xf32>, tensor<?x?xi32>) {
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x8x4xf32>
  %1 = "dl.update_slice"(%arg3, %arg4, %arg5) {axis = 1 : i64, circular = true} : (tensor<?x?xi32>, tensor<?x2xi32>, tensor<?xi32>) -> tensor<?x?xi32>
  return %0, %1 : tensor<2x8x4xf32>, tensor<?x?xi32>
}

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: "dl.reverse_sequence"(%arg0, %arg1) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
// CHECK-NEXT: "dl.reverse_sequence"(%arg2, %arg3) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<?x?xi1>, tensor<?xi32>) -> tensor<?x?xi1>
func.func @reverse_sequence(%arg0: tensor<4x3xf32>, %arg1: tensor<3xi64>, %arg2: tensor<?x?xi1>, %arg3: tensor<?xi32>)
    -> (tensor<4x3xf32>, tensor<?x?xi1>) {
  %0 = "dl.reverse_sequence"(%arg0, %arg1) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %1 = "dl.reverse_sequence"(%arg2, %arg3) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<?x?xi1>, tensor<?xi32>) -> tensor<?x?xi1>
  return %0, %1 : tensor<4x3xf32>, tensor<?x?xi1>
}

// CHECK-LABEL: func.func @top_k_of_a_value(
// CHECK: "dl.top_k"(%arg0, %arg1) {axis = 0 : i64} : (tensor<7x3xf32>, tensor<i64>) -> (tensor<?x3xf32>, tensor<?x3xi64>)
func.func @top_k_of_a_value(%arg0: tensor<7x3xf32>, %arg1: tensor<i64>) -> (tensor<?x3xf32>, tensor<?x3xi64>) {
  %0:2 = "dl.top_k"(%arg0, %arg1) {axis = 0 : i64} : (tensor<7x3xf32>, tensor<i64>) -> (tensor<?x3xf32>, tensor<?x3xi64>)
  return %0#0, %0#1 : tensor<?x3xf32>, tensor<?x3xi64>
}
