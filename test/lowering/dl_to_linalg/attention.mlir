// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Attention is two products with softmax between; the sum of a row divides the result, not the weights.

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-LABEL: func.func @causal(
// CHECK: linalg.generic {indexing_maps = [#[[Q]], #[[K]],
// CHECK: arith.cmpi sle
// CHECK: math.exp
// CHECK: linalg.generic {indexing_maps = [#[[Q]], #[[V]],
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @causal(%q: tensor<1x2x5x8xf16>, %k: tensor<1x2x7x8xf16>) -> tensor<1x2x5x8xf16> {
  %0 = "dl.attention"(%q, %k, %k) {is_causal = true}
      : (tensor<1x2x5x8xf16>, tensor<1x2x7x8xf16>, tensor<1x2x7x8xf16>) -> tensor<1x2x5x8xf16>
  return %0 : tensor<1x2x5x8xf16>
}

// -----

// Heads that share a kv head are split off; keys and values are read in place.
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-LABEL: func.func @shared_heads(
// CHECK-SAME: %[[QUERY:.*]]: tensor<1x4x5x8xf32>, %[[KEY:.*]]: tensor<1x2x7x8xf32>
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[QUERY]] {{.*}} into tensor<1x2x2x5x8xf32>
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[K]], {{.*}} ins(%[[SPLIT]], %[[KEY]] :
// CHECK: arith.select
func.func @shared_heads(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>, %m: tensor<5x7xi1>) -> tensor<1x4x5x8xf32> {
  %0 = "dl.attention"(%q, %k, %k, %m)
      : (tensor<1x4x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>, tensor<5x7xi1>) -> tensor<1x4x5x8xf32>
  return %0 : tensor<1x4x5x8xf32>
}

// -----

// CHECK-DAG: #[[PARTNER:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, -d3 + 1, d4)>
// CHECK-DAG: #[[ANGLE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (0, d2, d4)>
// CHECK-LABEL: func.func @rotary_embedding(
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x5x2x4xf32>
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[PARTNER]], #[[ANGLE]], #[[ANGLE]],
// CHECK: tensor.collapse_shape {{.*}} into tensor<2x3x5x8xf32>
func.func @rotary_embedding(%x: tensor<2x3x5x8xf32>, %c: tensor<1x5x4xf32>) -> tensor<2x3x5x8xf32> {
  %0 = "dl.rotary_embedding"(%x, %c, %c) : (tensor<2x3x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// Many queries: the keys are transposed once, so that the product reads them along contiguous memory.
// CHECK-LABEL: func.func @many_queries(
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<1x2x32x8xf32>) outs(%{{.*}} : tensor<1x2x8x32xf32>) permutation = [0, 1, 3, 2]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[T]] : tensor<1x2x32x8xf32>, tensor<1x2x8x32xf32>)
func.func @many_queries(%q: tensor<1x2x32x8xf32>, %k: tensor<1x2x32x8xf32>) -> tensor<1x2x32x8xf32> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x32x8xf32>, tensor<1x2x32x8xf32>, tensor<1x2x32x8xf32>) -> tensor<1x2x32x8xf32>
  return %0 : tensor<1x2x32x8xf32>
}

// -----

// However many queries: the keys are transposed as well, and affine-forward-transposes lets few queries do without.
// CHECK-LABEL: func.func @open_queries(
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 3, 2]
func.func @open_queries(%q: tensor<1x2x?x8xf32> {dl.dims = ["", "", "s", ""]}, %k: tensor<1x2x?x8xf32> {dl.dims = ["", "", "t", ""]}) -> tensor<1x2x?x8xf32> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %0 : tensor<1x2x?x8xf32>
}

// -----

// no-match: one query, as in a step of decoding, would wait for all keys to be transposed.
// CHECK-LABEL: func.func @one_query(
// CHECK-NOT: linalg.transpose
func.func @one_query(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x?x8xf32> {dl.dims = ["", "", "t", ""]}) -> tensor<1x2x1x8xf32> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x1x8xf32>
  return %0 : tensor<1x2x1x8xf32>
}
