// RUN: dlc-opt %s --dl-fold-constants --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-fold-constants=limit=2 --split-input-file | filecheck %s --check-prefix=LIMIT
// Ops on constants become constants; the pass refuses nothing.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[C:.*]] = "dl.constant"() {value = dense<[4.000000e+00, 6.000000e+00, 8.000000e+00]> : tensor<3xf32>}
// CHECK-NEXT: "dl.mul"(%arg0, %[[C]])
// LIMIT-LABEL: func.func @chain(
// LIMIT: %[[SUM:.*]] = "dl.add"
// LIMIT: %[[TWO:.*]] = "dl.constant"() {value = dense<2.000000e+00> : tensor<f32>}
// LIMIT: "dl.mul"(%[[SUM]], %[[TWO]])
func.func @chain(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = "dl.constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.add"(%a, %one) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %two = "dl.add"(%one, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "dl.mul"(%0, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = "dl.mul"(%x, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// Both results of an op.
// CHECK-LABEL: func.func @several_results(
// CHECK-DAG: "dl.constant"() {value = dense<[3, 2]> : tensor<2xi32>}
// CHECK-DAG: "dl.constant"() {value = dense<[1, 2]> : tensor<2xi64>}
// CHECK-NOT: dl.top_k
func.func @several_results() -> (tensor<2xi32>, tensor<2xi64>) {
  %a = "dl.constant"() {value = dense<[1, 3, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %0:2 = "dl.top_k"(%a) {k = 2 : i64} : (tensor<3xi32>) -> (tensor<2xi32>, tensor<2xi64>)
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi64>
}

// -----

// A dim that only the elements tell becomes static, where dl ops alone use it.
// CHECK-LABEL: func.func @range(
// CHECK: %[[R:.*]] = "dl.constant"() {value = dense<[0, 1, 2, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
// CHECK: "dl.gather"(%arg0, %[[R]]) : (tensor<9x2xf32>, tensor<4xi64>) -> tensor<?x2xf32>
func.func @range(%x: tensor<9x2xf32>) -> tensor<?x2xf32> {
  %zero = "dl.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "dl.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %four = "dl.constant"() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.range"(%zero, %four, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %1 = "dl.gather"(%x, %0) : (tensor<9x2xf32>, tensor<?xi64>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----

// no-match: a huge result, known by its type or not; params; an operand that is an input; a result type with an open dim.
// CHECK-LABEL: func.func @stays(
// CHECK: "dl.expand"
// CHECK: "dl.range"
// CHECK: "dl.neg"
// CHECK: "dl.add"(%arg0
// CHECK: "dl.range"
func.func @stays(%x: tensor<f32>) -> (tensor<1000000xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<?xf32>) {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %far = "dl.constant"() {value = dense<1.0e12> : tensor<f32>} : () -> tensor<f32>
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.expand"(%one) {shape = array<i64: 1000000>} : (tensor<f32>) -> tensor<1000000xf32>
  %1 = "dl.range"(%zero, %far, %one) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %2 = "dl.reduce_sum"(%1) : (tensor<?xf32>) -> tensor<f32>
  %3 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "dl.add"(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = "dl.range"(%zero, %one, %one) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return %0, %2, %3, %4, %5 : tensor<1000000xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<?xf32>
}
