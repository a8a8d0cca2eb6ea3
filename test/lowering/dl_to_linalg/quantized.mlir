// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// A product of bytes is one generic whose body reads four bytes of a row and cuts four out of a word.

// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 4 + 3)>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
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
  %0 = "dl.byte_matmul"(%x, %w) {columns = 33 : i64} : (tensor<2x3x8xui8>, tensor<3x2x16xi32>) -> tensor<2x3x33xi32>
  return %0 : tensor<2x3x33xi32>
}
