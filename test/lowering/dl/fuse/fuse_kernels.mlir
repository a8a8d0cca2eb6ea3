// RUN: dlc-opt %s --dl-fuse-kernels | filecheck %s
// RUN: dlc-opt %s --dl-fuse-kernels --dl-fuse-kernels | filecheck %s
// A contraction takes what follows, rows stay together, and views between kernels stay outside. The pass refuses nothing.

// CHECK-LABEL: func.func @epilogue
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[K:.*]] = "dl.kernel"() ({
// CHECK-NEXT: "dl.matmul"(%{{.*}}, %[[W]])
// CHECK-NEXT: "dl.add"
// CHECK-NEXT: "dl.relu"
// CHECK-NEXT: "dl.add"
// CHECK-NEXT: "dl.yield"
// CHECK-NEXT: }) : () -> tensor<4x8xf32>
// CHECK: return %[[K]]
func.func @epilogue(%x: tensor<4x6xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 6, 8>, dtype = f32} : () -> tensor<6x8xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 8>, dtype = f32} : () -> tensor<8xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = "dl.add"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = "dl.relu"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "dl.add"(%2, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// Both the sum and its norm leave the kernel.
// CHECK-LABEL: func.func @sum_and_norm
// CHECK: %[[K:.*]]:2 = "dl.kernel"() ({
// CHECK-NEXT: %[[S:.*]] = "dl.add"
// CHECK-NEXT: %[[N:.*]] = "dl.layer_norm"(%[[S]])
// CHECK-NEXT: %[[G:.*]] = "dl.gelu"(%[[N]])
// CHECK-NEXT: "dl.yield"(%[[S]], %[[G]])
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @sum_and_norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "dl.add"(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "dl.layer_norm"(%0) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "dl.gelu"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @softmax_in_parts
// CHECK: "dl.kernel"() ({
// CHECK-NEXT: "dl.reduce_max"
// CHECK-NEXT: "dl.sub"
// CHECK-NEXT: "dl.exp"
// CHECK-NEXT: "dl.reduce_sum"
// CHECK-NEXT: "dl.div"
// CHECK-NEXT: "dl.yield"
func.func @softmax_in_parts(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "dl.reduce_max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = "dl.sub"(%x, %0) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = "dl.exp"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "dl.reduce_sum"(%2) {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = "dl.div"(%2, %3) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// The view inside a kernel is repeated there, the one between two kernels stays outside.
// CHECK-LABEL: func.func @views
// CHECK: %[[A:.*]] = "dl.kernel"() ({
// CHECK: "dl.reduce_sum"
// CHECK: "dl.unsqueeze"
// CHECK: "dl.sub"
// CHECK: %[[V:.*]] = "dl.reshape"(%[[A]])
// CHECK: "dl.kernel"() ({
// CHECK-NEXT: "dl.matmul"(%[[V]]
func.func @views(%x: tensor<4x8xf32>, %w: tensor<2x3xf32>) -> tensor<16x3xf32> {
  %0 = "dl.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = "dl.unsqueeze"(%0) {axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %2 = "dl.sub"(%x, %1) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = "dl.reshape"(%2) {shape = array<i64: 16, 2>} : (tensor<4x8xf32>) -> tensor<16x2xf32>
  %4 = "dl.matmul"(%3, %w) : (tensor<16x2xf32>, tensor<2x3xf32>) -> tensor<16x3xf32>
  return %4 : tensor<16x3xf32>
}

// A slice at a place that is a value lies in the larger tensor, so that a product may add it.
// CHECK-LABEL: func.func @slice_of_step
// CHECK: "dl.kernel"() ({
// CHECK-DAG: "dl.matmul"
// CHECK-DAG: "dl.gather"
// CHECK: "dl.add"
// CHECK-NOT: "dl.kernel"
func.func @slice_of_step(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %all: tensor<9x4x3xf32>, %step: tensor<i64>) -> tensor<4x3xf32> {
  %0 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = "dl.gather"(%all, %step) : (tensor<9x4x3xf32>, tensor<i64>) -> tensor<4x3xf32>
  %2 = "dl.add"(%0, %1) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// no-match: views alone, results of two types, and a private function.
// CHECK-LABEL: func.func @no_work
// CHECK-NOT: "dl.kernel"
// CHECK-LABEL: func.func @two_types
// CHECK-NOT: "dl.kernel"
// CHECK-LABEL: func.func private @private
// CHECK-NOT: "dl.kernel"
func.func @no_work(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = "dl.reshape"(%x) {shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
func.func @two_types(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %0:2 = "dl.top_k"(%x) {k = 3 : i64} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi64>
}
func.func private @private(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "dl.relu"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
