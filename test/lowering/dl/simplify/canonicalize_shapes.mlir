// RUN: dlc-opt %s --dl-canonicalize | filecheck %s
// Views, transposes and repetitions in their canonical form; each function is named for the rule that it shows.

// CHECK-LABEL: func.func @drop_reshape_to_own_shape(
// CHECK-NEXT: return %arg0, %arg1
func.func @drop_reshape_to_own_shape(%x: tensor<2x3xf32>, %d: tensor<?x?x6xf32>) -> (tensor<2x3xf32>, tensor<?x?x6xf32>) {
  %0 = "dl.reshape"(%x) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.reshape"(%d) {copied = array<i64: 0, -1, -1>, shape = array<i64: -1, -1, 6>} : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x?x6xf32>
}

// no-match: dims that change places.
// CHECK-LABEL: func.func @not_reshape_to_own_shape(
// CHECK-NEXT: "dl.reshape"
func.func @not_reshape_to_own_shape(%d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "dl.reshape"(%d) {copied = array<i64: 1, 0>, shape = array<i64: -1, -1>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @merge_reshapes(
// CHECK-NEXT: %[[A:.*]] = "dl.reshape"(%arg0) {shape = array<i64: 3, 2>}
// CHECK-NEXT: %[[B:.*]] = "dl.reshape"(%arg1) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 3, 2>}
// CHECK-NEXT: return %[[A]], %[[B]], %arg1
func.func @merge_reshapes(%x: tensor<2x3xf32>, %d: tensor<?x?x6xf32>) -> (tensor<3x2xf32>, tensor<?x?x3x2xf32>, tensor<?x?x6xf32>) {
  %0 = "dl.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = "dl.unsqueeze"(%0) {axes = array<i64: 0>} : (tensor<6xf32>) -> tensor<1x6xf32>
  %2 = "dl.reshape"(%1) {shape = array<i64: 3, 2>} : (tensor<1x6xf32>) -> tensor<3x2xf32>
  %3 = "dl.reshape"(%d) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 2, 3>} : (tensor<?x?x6xf32>) -> tensor<?x?x2x3xf32>
  %4 = "dl.reshape"(%3) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 3, 2>} : (tensor<?x?x2x3xf32>) -> tensor<?x?x3x2xf32>
  %5 = "dl.unsqueeze"(%d) {axes = array<i64: 1, -1>} : (tensor<?x?x6xf32>) -> tensor<?x1x?x6x1xf32>
  %6 = "dl.squeeze"(%5) {axes = array<i64: 4, 1>} : (tensor<?x1x?x6x1xf32>) -> tensor<?x?x6xf32>
  return %2, %4, %6 : tensor<3x2xf32>, tensor<?x?x3x2xf32>, tensor<?x?x6xf32>
}

// no-match: two dims would be left over.
// CHECK-LABEL: func.func @not_merge_reshapes(
// CHECK-COUNT-2: "dl.reshape"
func.func @not_merge_reshapes(%d: tensor<?x?x6xf32>) -> tensor<?x?x1xf32> {
  %0 = "dl.reshape"(%d) {copied = array<i64: -1, 1>, shape = array<i64: -1, -1>} : (tensor<?x?x6xf32>) -> tensor<?x?xf32>
  %1 = "dl.reshape"(%0) {copied = array<i64: 0, -1, -1>, shape = array<i64: -1, -1, 1>} : (tensor<?x?xf32>) -> tensor<?x?x1xf32>
  return %1 : tensor<?x?x1xf32>
}

// CHECK-LABEL: func.func @drop_reshape_before_reshape_to_sizes(
// CHECK: "dl.reshape"(%arg0, %{{.*}}) {shape = array<i64: -1, -1>}
func.func @drop_reshape_before_reshape_to_sizes(%x: tensor<2x3xf32>, %y: tensor<?x?xf32> {dl.dims = ["a", "a"]}) -> tensor<?x?xf32> {
  %s = "dl.shape_of"(%y) : (tensor<?x?xf32>) -> tensor<2xi64>
  %a = "dl.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %k = "dl.constant"() {value = dense<[-1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %m = "dl.min"(%s, %k) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %0 = "dl.reshape"(%a, %m) {shape = array<i64: -1, -1>} : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @spell_out_reshape(
// CHECK-NEXT: "dl.reshape"(%arg0) {shape = array<i64: 3, 2>}
func.func @spell_out_reshape(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "dl.reshape"(%x) {shape = array<i64: -1, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @drop_transpose_to_own_order(
// CHECK-NEXT: return %arg0
func.func @drop_transpose_to_own_order(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 1, 2>} : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  return %0 : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @merge_transposes(
// CHECK-NEXT: "dl.transpose"(%arg0) {perm = array<i64: 1, 0, 2>}
func.func @merge_transposes(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 2, 1, 0>} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}

// CHECK-LABEL: func.func @transpose_of_unit_dims_to_reshape(
// CHECK-NEXT: "dl.reshape"(%arg0) {shape = array<i64: 1, 2, 3>}
// CHECK-NEXT: "dl.reshape"(%arg1) {copied = array<i64: 0, 2, -1>, shape = array<i64: -1, -1, 1>}
func.func @transpose_of_unit_dims_to_reshape(%x: tensor<2x1x3xf32>, %d: tensor<?x1x?xf32>) -> (tensor<1x2x3xf32>, tensor<?x?x1xf32>) {
  %0 = "dl.transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %1 = "dl.transpose"(%d) {perm = array<i64: 0, 2, 1>} : (tensor<?x1x?xf32>) -> tensor<?x?x1xf32>
  return %0, %1 : tensor<1x2x3xf32>, tensor<?x?x1xf32>
}

// no-match: other axes change their order.
// CHECK-LABEL: func.func @not_transpose_of_unit_dims(
// CHECK-NEXT: "dl.transpose"
func.func @not_transpose_of_unit_dims(%x: tensor<2x1x3xf32>) -> tensor<3x1x2xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 2, 1, 0>} : (tensor<2x1x3xf32>) -> tensor<3x1x2xf32>
  return %0 : tensor<3x1x2xf32>
}

// CHECK-LABEL: func.func @expand_of_nothing_to_reshape(
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%arg1) {copied = array<i64: -1, 0, 1, -1>, shape = array<i64: 1, -1, -1, 6>}
// CHECK-NEXT: return %arg0, %[[R]]
func.func @expand_of_nothing_to_reshape(%x: tensor<2x3xf32>, %d: tensor<?x?x6xf32>) -> (tensor<2x3xf32>, tensor<1x?x?x6xf32>) {
  %0 = "dl.expand"(%x) {shape = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.expand"(%d) {shape = array<i64: 1, 1, 1, 6>} : (tensor<?x?x6xf32>) -> tensor<1x?x?x6xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<1x?x?x6xf32>
}

// CHECK-LABEL: func.func @merge_expands(
// CHECK-NEXT: "dl.expand"(%arg0) {shape = array<i64: 4, 2, 3>}
func.func @merge_expands(%x: tensor<1x1xf32>) -> tensor<4x2x3xf32> {
  %0 = "dl.expand"(%x) {shape = array<i64: 2, 1>} : (tensor<1x1xf32>) -> tensor<2x1xf32>
  %1 = "dl.expand"(%0) {shape = array<i64: 4, 1, 3>} : (tensor<2x1xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @drop_expand_before_broadcast(
// CHECK-NEXT: "dl.mul"(%arg0, %arg1) : (tensor<3xf32>, tensor<2x3xf32>)
// CHECK-NEXT: "dl.where"(%arg2, %arg1, %arg0)
func.func @drop_expand_before_broadcast(%x: tensor<3xf32>, %y: tensor<2x3xf32>, %b: tensor<2x3xi1>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.expand"(%x) {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.mul"(%0, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.where"(%b, %y, %0) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Equal symbols are equal dims.
// CHECK-LABEL: func.func @drop_expand_before_broadcast_dynamic(
// CHECK-NEXT: "dl.mul"(%arg0, %arg1)
func.func @drop_expand_before_broadcast_dynamic(%x: tensor<?x1xf32> {dl.dims = ["n", ""]}, %y: tensor<?x?xf32> {dl.dims = ["n", "m"]}) -> tensor<?x?xf32> {
  %s = "dl.shape_of"(%y) : (tensor<?x?xf32>) -> tensor<2xi64>
  %0 = "dl.expand"(%x, %s) {shape = array<i64: -1, -1>} : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "dl.mul"(%0, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// no-match: the other operand may be smaller.
// CHECK-LABEL: func.func @not_expand_before_broadcast_dynamic(
// CHECK: "dl.expand"
func.func @not_expand_before_broadcast_dynamic(%x: tensor<1x1xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = "dl.shape_of"(%z) : (tensor<?x?xf32>) -> tensor<2xi64>
  %0 = "dl.expand"(%x, %s) {shape = array<i64: -1, -1>} : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = "dl.slice"(%y) {axes = array<i64: 0, 1>, ends = array<i64: 1, 1>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "dl.mul"(%0, %r) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// no-match: the expand makes the result as large as it is.
// CHECK-LABEL: func.func @not_expand_before_broadcast(
// CHECK: "dl.expand"
// CHECK: "dl.mul"
// CHECK: "dl.exp"
func.func @not_expand_before_broadcast(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.expand"(%x) {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.mul"(%0, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = "dl.exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_tile_of_one(
// CHECK-NEXT: return %arg0
func.func @drop_tile_of_one(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %0 = "dl.tile"(%x) {repeats = array<i64: 1, 1, 1>} : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  return %0 : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @tile_of_unit_dims_to_expand(
// CHECK-NEXT: "dl.expand"(%arg0) {shape = array<i64: 4, 1>}
func.func @tile_of_unit_dims_to_expand(%x: tensor<1x?xf32>) -> tensor<4x?xf32> {
  %0 = "dl.tile"(%x) {repeats = array<i64: 4, 1>} : (tensor<1x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @merge_tiles(
// CHECK-NEXT: "dl.tile"(%arg0) {repeats = array<i64: 2, 3>}
func.func @merge_tiles(%x: tensor<2x3xf32>) -> tensor<4x9xf32> {
  %0 = "dl.tile"(%x) {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = "dl.tile"(%0) {repeats = array<i64: 1, 3>} : (tensor<4x3xf32>) -> tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// CHECK-LABEL: func.func @reduce_of_single_elements_to_reshape(
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%arg0) {copied = array<i64: 0>, shape = array<i64: -1>}
// CHECK-NEXT: return %arg0, %[[R]], %arg1
func.func @reduce_of_single_elements_to_reshape(%x: tensor<?x1x1xf32>, %y: tensor<f32>) -> (tensor<?x1x1xf32>, tensor<?xf32>, tensor<f32>) {
  %0 = "dl.reduce_mean"(%x) {axes = array<i64: 1, 2>, keepdims = true} : (tensor<?x1x1xf32>) -> tensor<?x1x1xf32>
  %1 = "dl.reduce_max"(%x) {axes = array<i64: 1, -1>} : (tensor<?x1x1xf32>) -> tensor<?xf32>
  %2 = "dl.reduce_min"(%y) : (tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<?x1x1xf32>, tensor<?xf32>, tensor<f32>
}

// What is more than 64 bits hold stays two ops.

// CHECK-LABEL: func.func @merge_tiles_beyond_64_bits(
// CHECK-COUNT-2: "dl.tile"
func.func @merge_tiles_beyond_64_bits(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "dl.tile"(%x) {repeats = array<i64: 4611686018427387904>} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "dl.tile"(%0) {repeats = array<i64: 4611686018427387904>} : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
