// RUN: dlc-opt %s --dl-outline-kernels --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s
// RUN: dlc-opt %s --dl-outline-kernels --dl-outline-kernels --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s
// Equal kernels share one function; weights are arguments, small constants stay inside, equal dims have one name.
// The pass refuses nothing.

// CHECK-LABEL: func.func @shared
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<?x4xf32> {dl.dims = ["batch", ""]}
// CHECK: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK: %[[V:.*]] = "dl.param"() {{.*}}key = "v"
// CHECK: %[[A:.*]] = call @kernel_0_matmul_mul(%[[X]], %[[W]])
// CHECK: %[[B:.*]] = call @kernel_0_matmul_mul(%[[A]], %[[V]])
// CHECK: call @kernel_1_add(%[[A]], %[[B]])
// CHECK-NOT: "dl.kernel"
// CHECK: func.func private @kernel_0_matmul_mul(
// CHECK-SAME: %{{.*}}: tensor<?x4xf32> {dl.dims = ["d0", ""]}
// CHECK-SAME: %{{.*}}: tensor<4x4xf32>
// CHECK-SAME: -> (tensor<?x4xf32> {dl.dims = ["d0", ""]}) attributes {dl.kernel} {
// CHECK: "dl.constant"() {value = dense<2.0
// CHECK: "dl.matmul"
// CHECK: "dl.mul"
// CHECK: } loc(fused["first", "second"])
// CHECK: func.func private @kernel_1_add(
// CHECK-SAME: dl.dims = ["d0", ""]
// CHECK-SAME: dl.dims = ["d0", ""]
func.func @shared(%x: tensor<?x4xf32> {dl.dims = ["batch", ""]}) -> tensor<?x4xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %c = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.kernel"() ({
    %3 = "dl.matmul"(%x, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %4 = "dl.mul"(%3, %c) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    "dl.yield"(%4) : (tensor<?x4xf32>) -> ()
  }) : () -> tensor<?x4xf32> loc("first")
  %1 = "dl.kernel"() ({
    %3 = "dl.matmul"(%0, %v) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %4 = "dl.mul"(%3, %c) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    "dl.yield"(%4) : (tensor<?x4xf32>) -> ()
  }) : () -> tensor<?x4xf32> loc("second")
  %2 = "dl.kernel"() ({
    %3 = "dl.add"(%0, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    "dl.yield"(%3) : (tensor<?x4xf32>) -> ()
  }) : () -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// A param inside a region comes from outside, too, and a region may give what it only reads.
// CHECK-LABEL: func.func @inside
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[K:.*]]:2 = call @kernel_0_add_1(%{{.*}}, %[[W]])
// CHECK: func.func private @kernel_0_add_1(%[[X:[a-z0-9]*]]: tensor<4xf32> loc({{.*}}), %[[V:[a-z0-9]*]]: tensor<4xf32>
// CHECK: %[[S:.*]] = "dl.add"(%[[X]], %[[V]])
// CHECK: return %[[S]], %[[X]]
func.func @inside(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "dl.kernel"() ({
    %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
    %1 = "dl.add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "dl.yield"(%1, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @kernel_0_add()

// -----

// Results of two types.
// CHECK-LABEL: func.func @top
// CHECK: %[[K:.*]]:2 = call @kernel_0_top_k(
// CHECK: return %[[K]]#0, %[[K]]#1
// CHECK: func.func private @kernel_0_top_k(
func.func @top(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %0:2 = "dl.top_k"(%x) {k = 3 : i64} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi64>
}

// -----

// no-match: no region.
// CHECK-LABEL: func.func @plain
// CHECK: "dl.relu"
// CHECK-NOT: func.func
func.func @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "dl.relu"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
