// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// A product of pairs is one generic whose body reads two numbers of a row and the halves of a word, as f32.

// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 2)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 * 2 + 1)>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-LABEL: func.func @main(
// CHECK: tensor.collapse_shape {{.*}} into tensor<6x4xbf16>
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[WORDS]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[LOW:.*]] = arith.shli %{{.*}}, %c16{{.*}} : i32
// CHECK: %[[HIGH:.*]] = arith.andi %{{.*}}, %c-65536{{.*}} : i32
// CHECK: arith.bitcast %[[LOW]] : i32 to f32
// CHECK: arith.bitcast %[[HIGH]] : i32 to f32
// CHECK-COUNT-2: arith.extf {{.*}} : bf16 to f32
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x33xf32>
func.func @main(%x: tensor<2x3x4xbf16>, %w: tensor<3x2x16xi32>) -> tensor<2x3x33xf32> {
  %0 = "dl.vnni_matmul"(%x, %w) {columns = 33 : i64} : (tensor<2x3x4xbf16>, tensor<3x2x16xi32>) -> tensor<2x3x33xf32>
  return %0 : tensor<2x3x33xf32>
}

// Rows are rounded and joined; a row of zeros follows an odd number of them.
// CHECK-LABEL: func.func @pairs(
// CHECK: linalg.fill {{.*}} -> tensor<4x5xf32>
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: arith.ori
// CHECK: return {{.*}} : tensor<2x5xi32>
func.func @pairs(%w: tensor<3x5xf32>) -> tensor<2x5xi32> {
  %0 = "dl.bf16_pairs"(%w) : (tensor<3x5xf32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}

// A convolution has the loops of its window, and a pair of channels innermost.
// CHECK-LABEL: func.func @conv(
// CHECK: linalg.generic
// CHECK-SAME: "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x6x6x48xf32>
func.func @conv(%x: tensor<1x8x8x4xbf16>, %w: tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32> {
  %0 = "dl.vnni_conv"(%x, %w) : (tensor<1x8x8x4xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return %0 : tensor<1x6x6x48xf32>
}
