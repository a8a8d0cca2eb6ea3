// RUN: dlc-opt %s --dl-batch-products --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-batch-products=most-rows=1 --split-input-file | filecheck %s --check-prefix=FEW
// Products of one weight that do not wait for each other become one; the pass refuses nothing.

// What needs a product moves behind the one that stands for both.
// FEW-LABEL: func.func @independent
// FEW: "dl.matmul"(%{{.*}}) : (tensor<2x4xf32>
// FEW-LABEL: func.func @recurrent
// FEW: "dl.concat"
// CHECK-LABEL: func.func @independent
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[Y:.*]]: tensor<2x4xf32>)
// CHECK: %[[W:.*]] = "dl.param"()
// CHECK: %[[Z:.*]] = "dl.exp"(%[[Y]])
// CHECK: %[[FIRST:.*]] = "dl.reshape"(%[[X]]) {{.*}} -> tensor<1x2x4xf32>
// CHECK: %[[SECOND:.*]] = "dl.reshape"(%[[Z]]) {{.*}} -> tensor<1x2x4xf32>
// CHECK: %[[BATCH:.*]] = "dl.concat"(%[[FIRST]], %[[SECOND]]) {axis = 0 : i64}
// CHECK: %[[ALL:.*]] = "dl.matmul"(%[[BATCH]], %[[W]]) : (tensor<2x2x4xf32>, tensor<4x6xf32>) -> tensor<2x2x6xf32>
// CHECK: %[[PART0:.*]] = "dl.slice"(%[[ALL]]) {axes = array<i64: 0>, ends = array<i64: 1>, starts = array<i64: 0>
// CHECK: %[[PRODUCT0:.*]] = "dl.reshape"(%[[PART0]]) {{.*}} -> tensor<2x6xf32>
// CHECK: %[[PART1:.*]] = "dl.slice"(%[[ALL]]) {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 1>
// CHECK: %[[PRODUCT1:.*]] = "dl.reshape"(%[[PART1]]) {{.*}} -> tensor<2x6xf32>
// CHECK: %[[RELU:.*]] = "dl.relu"(%[[PRODUCT0]])
// CHECK: return %[[RELU]], %[[PRODUCT1]]
func.func @independent(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 6>, dtype = f32} : () -> tensor<4x6xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  %1 = "dl.relu"(%0) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %z = "dl.exp"(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "dl.matmul"(%z, %w) : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  return %1, %2 : tensor<2x6xf32>, tensor<2x6xf32>
}

// -----

// Two layers of two steps: the products with `u` stay one after the other, those with `w` become one, behind both steps.
// CHECK-LABEL: func.func @recurrent
// CHECK: %[[H0:.*]] = "dl.tanh"(%arg0)
// CHECK: %[[STEP:.*]] = "dl.matmul"(%[[H0]],
// CHECK: %[[H1:.*]] = "dl.tanh"(%[[STEP]])
// CHECK: "dl.concat"
// CHECK: "dl.matmul"(%{{[0-9]+}}, %{{[0-9]+}}) : (tensor<2x1x4xf32>, tensor<4x4xf32>)
// CHECK-NOT: dl.matmul
func.func @recurrent(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %u = "dl.param"() {key = "u", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %h0 = "dl.tanh"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %y0 = "dl.matmul"(%h0, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %0 = "dl.matmul"(%h0, %u) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %h1 = "dl.tanh"(%0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %y1 = "dl.matmul"(%h1, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = "dl.sub"(%y1, %y0) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// -----

// Both pairs can be fused alone, but not together: then each would wait for the other.
// CHECK-LABEL: func.func @crossed
// CHECK: "dl.matmul"(%arg1, %{{[0-9]+}}) : (tensor<1x4xf32>, tensor<4x4xf32>)
// CHECK: "dl.matmul"(%{{[0-9]+}}, %{{[0-9]+}}) : (tensor<2x1x4xf32>, tensor<4x4xf32>)
// CHECK: "dl.matmul"(%{{[0-9]+}}, %{{[0-9]+}}) : (tensor<1x4xf32>, tensor<4x4xf32>)
// CHECK-NOT: dl.matmul
func.func @crossed(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %u = "dl.param"() {key = "u", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %0 = "dl.matmul"(%x, %u) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = "dl.matmul"(%0, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = "dl.matmul"(%y, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %3 = "dl.matmul"(%2, %u) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return %1, %3 : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// no-match: many rows, rows of unknown number, inputs of two types, and a matrix that is no weight.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: dl.concat
func.func @apart(%x: tensor<17x4xf32>, %y: tensor<?x4xf32>, %z: tensor<1x4xf32>, %m: tensor<4x4xf32>)
    -> (tensor<17x4xf32>, tensor<17x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<17x4xf32>, tensor<4x4xf32>) -> tensor<17x4xf32>
  %e = "dl.exp"(%x) : (tensor<17x4xf32>) -> tensor<17x4xf32>
  %1 = "dl.matmul"(%e, %w) : (tensor<17x4xf32>, tensor<4x4xf32>) -> tensor<17x4xf32>
  %2 = "dl.matmul"(%y, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %f = "dl.exp"(%y) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = "dl.matmul"(%f, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %4 = "dl.matmul"(%z, %m) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %g = "dl.exp"(%z) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %5 = "dl.matmul"(%g, %m) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<17x4xf32>, tensor<17x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// A product keeps the type that it is declared with.
// CHECK-LABEL: func.func @declared
// CHECK: "dl.matmul"({{.*}}) : (tensor<2x1x4xf32>, tensor<4x5xf32>)
// CHECK: "dl.reshape"({{.*}}) {shape = array<i64: 1, 5>} : (tensor<1x1x5xf32>) -> tensor<?x5xf32>
// CHECK: "dl.reshape"({{.*}}) {shape = array<i64: 1, 5>} : (tensor<1x1x5xf32>) -> tensor<1x5xf32>
func.func @declared(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> (tensor<?x5xf32>, tensor<1x5xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 5>, dtype = f32} : () -> tensor<4x5xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<1x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %1 = "dl.matmul"(%y, %w) : (tensor<1x4xf32>, tensor<4x5xf32>) -> tensor<1x5xf32>
  return %0, %1 : tensor<?x5xf32>, tensor<1x5xf32>
}
