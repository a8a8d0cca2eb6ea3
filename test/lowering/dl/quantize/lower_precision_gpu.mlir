// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --dl-lower-precision=to=bf16 --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --dl-lower-precision --split-input-file | filecheck %s --check-prefix=EXACT
// For a GPU both operands of products with weights are rounded to bf16, and results stay f32.

// EXACT-NOT: widening

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf32>)
// CHECK: %[[W:.*]] = "dl.param"()
// CHECK-DAG: %[[A:.*]] = "dl.cast"(%[[X]]) {to = bf16}
// CHECK-DAG: %[[B:.*]] = "dl.cast"(%[[W]]) {to = bf16}
// CHECK: "dl.widening_matmul"(%[[A]], %[[B]]) : (tensor<4x64xbf16>, tensor<64x32xbf16>) -> tensor<4x32xf32>
func.func @product(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 32>, dtype = f32} : () -> tensor<64x32xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// -----

// CHECK-LABEL: func.func @convolution
// CHECK: %[[Y:.*]] = "dl.widening_conv"({{.*}}) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-NEXT: "dl.add"(%[[Y]], %{{.*}}) : (tensor<1x4x4x16xf32>, tensor<16xf32>) -> tensor<1x4x4x16xf32>
func.func @convolution(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x16xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 4, 16>, dtype = f32} : () -> tensor<3x3x4x16xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 16>, dtype = f32} : () -> tensor<16xf32>
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>, tensor<16xf32>) -> tensor<1x4x4x16xf32>
  return %0 : tensor<1x4x4x16xf32>
}

// -----

// Scores of attention are no products with weights; channels first and groups have no widening form.
// CHECK-LABEL: func.func @others
// CHECK-NOT: widening
func.func @others(%x: tensor<4x64xf32>, %y: tensor<64x32xf32>, %i: tensor<1x4x8x8xf32>) -> (tensor<4x32xf32>, tensor<1x4x6x6xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4, 3, 3>, dtype = f32} : () -> tensor<4x4x3x3xf32>
  %0 = "dl.matmul"(%x, %y) : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  %1 = "dl.conv"(%i, %w) : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0, %1 : tensor<4x32xf32>, tensor<1x4x6x6xf32>
}

// -----

// What a product rounds, a sum reads in bf16, too: one kernel stores it once. A cast goes before a reshape, to what computes it.
// CHECK-LABEL: func.func @residual
// CHECK: %[[R:.*]] = "dl.relu"
// CHECK: %[[C:.*]] = "dl.cast"(%[[R]]) {to = bf16}
// CHECK: %[[F:.*]] = "dl.reshape"(%[[C]]) {{.*}} : (tensor<4x8x8xbf16>) -> tensor<4x64xbf16>
// CHECK: %[[P:.*]] = "dl.widening_matmul"(%[[F]]
// CHECK: %[[N:.*]] = "dl.cast"(%[[P]]) {to = bf16}
// CHECK-DAG: %[[Q:.*]] = "dl.widening_matmul"(%[[N]]
// CHECK-DAG: %[[W:.*]] = "dl.cast"(%[[N]]) {to = f32}
// CHECK: "dl.add"(%[[Q]], %[[W]])
func.func @residual(%x: tensor<4x8x8xf32>) -> tensor<4x64xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64>, dtype = f32} : () -> tensor<64x64xf32>
  %0 = "dl.relu"(%x) : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %1 = "dl.reshape"(%0) {shape = array<i64: 4, 64>} : (tensor<4x8x8xf32>) -> tensor<4x64xf32>
  %2 = "dl.matmul"(%1, %w) : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %3 = "dl.matmul"(%2, %w) : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %4 = "dl.add"(%3, %2) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %4 : tensor<4x64xf32>
}

// -----

// no-match: what else than elementwise ops reads it stays f32.
// CHECK-LABEL: func.func @read_whole
// CHECK: %[[R:.*]] = "dl.relu"
// CHECK: "dl.softmax"(%[[R]]
func.func @read_whole(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64>, dtype = f32} : () -> tensor<64x64xf32>
  %0 = "dl.relu"(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = "dl.matmul"(%0, %w) : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %2 = "dl.softmax"(%0) {axis = 1} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1, %2 : tensor<4x64xf32>, tensor<4x64xf32>
}
