// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// A product of bytes is one generic whose body reads four bytes of a row and cuts four out of a word.

// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 4 + 3)>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-DAG: #[[PIXEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 2 + d5, d2 + d6 * 3, d7 * 4 + 1)>
// CHECK-DAG: #[[TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// CHECK-LABEL: func.func @main(
// CHECK: tensor.collapse_shape {{.*}} into tensor<6x8xi8>
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], {{.*}}, #[[LAST]], #[[WORDS]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: %[[RAISED:.*]] = arith.shli %{{.*}}, %c24{{.*}} : i32
// CHECK: arith.shrsi %[[RAISED]], %c24{{.*}} : i32
// CHECK-COUNT-4: arith.muli
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x33xi32>
func.func @main(%x: tensor<2x3x8xui8>, %w: tensor<3x2x16xi32>) -> tensor<2x3x33xi32> {
  %0 = "dl.vnni_matmul"(%x, %w) {columns = 33 : i64} : (tensor<2x3x8xui8>, tensor<3x2x16xi32>) -> tensor<2x3x33xi32>
  return %0 : tensor<2x3x33xi32>
}

// A convolution of bytes is one, too, with loops over blocks and lanes of the channels of its result.
// CHECK-LABEL: func.func @convolution(
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[PIXEL]], {{.*}}, #[[TAPS]],
// CHECK-COUNT-4: arith.muli
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x3x5x2x16xi32> into tensor<1x3x5x32xi32>
func.func @convolution(%x: tensor<1x7x8x8xui8>, %w: tensor<2x3x2x2x16xi32>) -> tensor<1x3x5x32xi32> {
  %0 = "dl.vnni_conv"(%x, %w) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 3>}
      : (tensor<1x7x8x8xui8>, tensor<2x3x2x2x16xi32>) -> tensor<1x3x5x32xi32>
  return %0 : tensor<1x3x5x32xi32>
}
