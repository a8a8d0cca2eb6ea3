// RUN: dlc-opt %s --dl-outline-constants --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %s --dl-outline-constants --dl-outline-constants --split-input-file --verify-diagnostics | filecheck %s
// Computations on weights alone become results of @precompute. The pass takes any module: it refuses nothing.

// CHECK-LABEL: func.func @precompute() -> (tensor<4x3xf32> {dl.param = "w.transpose.mul"}, tensor<4xf32> {dl.param = "b.neg"})
// CHECK-SAME: attributes {dl.precompute}
// CHECK: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK: %[[TWO:.*]] = "dl.constant"
// CHECK: %[[T:.*]] = "dl.transpose"(%[[W]])
// CHECK: %[[SCALED:.*]] = "dl.mul"(%[[T]], %[[TWO]])
// CHECK: %[[NEGATED:.*]] = "dl.neg"
// CHECK: return %[[SCALED]], %[[NEGATED]]
// CHECK-LABEL: func.func @main_graph(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %
// CHECK-NOT: key = "w"
// CHECK: %[[P:.*]] = "dl.param"() {dtype = f32, key = "w.transpose.mul", shape = array<i64: 4, 3>}
// CHECK: "dl.matmul"(%[[X]], %[[P]])
// CHECK: %[[B:.*]] = "dl.param"() {{.*}}key = "b.neg"
// CHECK: "dl.expand"(%[[B]])
func.func @main_graph(%x: tensor<2x4xf32>, %y: tensor<5000x4xf32>) -> (tensor<2x3xf32>, tensor<5000x4xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 4>, dtype = f32} : () -> tensor<3x4xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %c = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = "dl.mul"(%t, %c) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %0 = "dl.matmul"(%x, %s) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %n = "dl.neg"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = "dl.expand"(%n) {shape = array<i64: 5000, 4>} : (tensor<4xf32>) -> tensor<5000x4xf32>
  %1 = "dl.add"(%y, %e) : (tensor<5000x4xf32>, tensor<5000x4xf32>) -> tensor<5000x4xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<5000x4xf32>
}

// -----

// @precompute grows, and loses what nothing reads any more. A weight inside a kernel is read from outside of it; one
// that the entry reads as it is stays an argument as well.

// CHECK-LABEL: func.func @precompute() -> (tensor<4xf32> {dl.param = "w.neg"}, tensor<4xf32> {dl.param = "w.neg.exp"})
// CHECK: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK: %[[N:.*]] = "dl.neg"(%[[W]])
// CHECK-NOT: dl.abs
// CHECK: %[[E:.*]] = "dl.exp"(%[[N]])
// CHECK: return %[[N]], %[[E]]
// CHECK-LABEL: func.func @kernels(
// CHECK: %[[COMPUTED:.*]] = "dl.param"() {{.*}}key = "w.neg.exp"
// CHECK-NEXT: "dl.kernel"
// CHECK-NEXT: "dl.add"(%{{.*}}, %[[COMPUTED]])
// CHECK: "dl.param"() {{.*}}key = "w"
func.func @precompute() -> (tensor<4xf32> {dl.param = "w.neg"}, tensor<4xf32> {dl.param = "w.abs"}) attributes {dl.precompute} {
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dl.abs"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @kernels(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %n = "dl.param"() {key = "w.neg", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.kernel"() ({
    %e = "dl.exp"(%n) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "dl.add"(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "dl.yield"(%1) : (tensor<4xf32>) -> ()
  }) : () -> tensor<4xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  return %0, %n, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// no-match: plain weights, a small result without weights, a repeated weight, and one of unknown size.
// CHECK-NOT: @precompute
// CHECK-LABEL: func.func @plain(
// CHECK: "dl.neg"
// CHECK: "dl.expand"
// CHECK: "dl.range"
func.func @plain(%x: tensor<2x4xf32>, %y: tensor<5000x4xf32>) -> (tensor<2x4xf32>, tensor<5000x4xf32>, tensor<?xi64>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %s = "dl.param"() {key = "s", shape = array<i64>, dtype = i64} : () -> tensor<i64>
  %c = "dl.constant"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %n = "dl.neg"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "dl.add"(%x, %n) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %e = "dl.expand"(%w) {shape = array<i64: 5000, 4>} : (tensor<4xf32>) -> tensor<5000x4xf32>
  %1 = "dl.add"(%y, %e) : (tensor<5000x4xf32>, tensor<5000x4xf32>) -> tensor<5000x4xf32>
  %2 = "dl.range"(%s, %s, %s) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<5000x4xf32>, tensor<?xi64>
}

// -----

// expected-error@below {{@precompute is marked dl.precompute, but takes an argument, or gives a result without a key; read weights}}
func.func @precompute() -> (tensor<4xf32>, tensor<4xf32> {dl.param = "w.neg"}) attributes {dl.precompute} {
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %w, %0 : tensor<4xf32>, tensor<4xf32>
}
func.func @result_without_key(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = "dl.param"() {key = "w.neg", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.abs"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dl.add"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
