// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Constants of each kind of element, weights, and kernels.

// CHECK-LABEL: func.func @constant(
// CHECK: "dl.constant"() {value = dense<[1.000000e+00, -2.500000e+00]> : tensor<2xbf16>} : () -> tensor<2xbf16>
// CHECK: "dl.constant"() {value = dense<200> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
// CHECK: "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
// CHECK: "dl.constant"() {value = dense<> : tensor<0xi64>} : () -> tensor<0xi64>
func.func @constant() -> (tensor<2xbf16>, tensor<2x3xui8>, tensor<i1>, tensor<0xi64>) {
  %0 = "dl.constant"() {value = dense<[1.0, -2.5]> : tensor<2xbf16>} : () -> tensor<2xbf16>
  %1 = "dl.constant"() {value = dense<200> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
  %2 = "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %3 = "dl.constant"() {value = dense<> : tensor<0xi64>} : () -> tensor<0xi64>
  return %0, %1, %2, %3 : tensor<2xbf16>, tensor<2x3xui8>, tensor<i1>, tensor<0xi64>
}

// CHECK-LABEL: func.func @param(
// CHECK: "dl.param"() {dtype = f32, key = "conv1.w", shape = array<i64: 8, 3, 3, 3>} : () -> tensor<8x3x3x3xf32>
func.func @param() -> tensor<8x3x3x3xf32> {
  %0 = "dl.param"() {dtype = f32, key = "conv1.w", shape = array<i64: 8, 3, 3, 3>} : () -> tensor<8x3x3x3xf32>
  return %0 : tensor<8x3x3x3xf32>
}

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK: %[[K:.*]]:2 = "dl.kernel"() ({
// CHECK-NEXT: %[[EXP:.*]] = "dl.exp"(%[[X]])
// CHECK-NEXT: %[[SUM:.*]] = "dl.add"(%[[EXP]], %[[X]])
// CHECK-NEXT: "dl.yield"(%[[SUM]], %[[EXP]]) : (tensor<?x4xf32>, tensor<?x4xf32>) -> ()
// CHECK-NEXT: }) : () -> (tensor<?x4xf32>, tensor<?x4xf32>)
func.func @kernel(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0:2 = "dl.kernel"() ({
    %1 = "dl.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %2 = "dl.add"(%1, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    "dl.yield"(%2, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> ()
  }) : () -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xf32>
}
