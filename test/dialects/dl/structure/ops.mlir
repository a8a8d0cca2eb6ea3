// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Constants, weights and kernels.

// CHECK-LABEL: func.func @constant(
// CHECK: "dl.constant"() {value = dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf32>} : () -> tensor<2xf32>
// CHECK-NEXT: "dl.constant"() {value = dense<200> : tensor<4xui8>} : () -> tensor<4xui8>
// CHECK-NEXT: "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
func.func @constant() -> (tensor<2xf32>, tensor<4xui8>, tensor<i1>) {
  %0 = "dl.constant"() {value = dense<[1.0, -2.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %1 = "dl.constant"() {value = dense<200> : tensor<4xui8>} : () -> tensor<4xui8>
  %2 = "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  return %0, %1, %2 : tensor<2xf32>, tensor<4xui8>, tensor<i1>
}

// CHECK-LABEL: func.func @param(
// CHECK: "dl.param"() {dtype = bf16, key = "w", shape = array<i64: 2, 3>} : () -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.param"() {dtype = i64, key = "s", shape = array<i64>} : () -> tensor<i64>
func.func @param() -> (tensor<2x3xbf16>, tensor<i64>) {
  %0 = "dl.param"() {key = "w", shape = array<i64: 2, 3>, dtype = bf16} : () -> tensor<2x3xbf16>
  %1 = "dl.param"() {key = "s", shape = array<i64>, dtype = i64} : () -> tensor<i64>
  return %0, %1 : tensor<2x3xbf16>, tensor<i64>
}

// CHECK-LABEL: func.func @kernel(
// CHECK: %[[K:.*]]:2 = "dl.kernel"() ({
// CHECK-NEXT: %[[R:.*]] = "dl.relu"(%arg0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %[[A:.*]] = "dl.add"(%[[R]], %arg1) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: "dl.yield"(%[[R]], %[[A]])
// CHECK-NEXT: }) {{.*}}: () -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @kernel(%arg0: tensor<?x4xf32>, %arg1: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0:2 = "dl.kernel"() ({
    %1 = "dl.relu"(%arg0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %2 = "dl.add"(%1, %arg1) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    "dl.yield"(%1, %2) : (tensor<?x4xf32>, tensor<?x4xf32>) -> ()
  }) : () -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xf32>
}
