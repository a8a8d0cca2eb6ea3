// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Matrix products are one generic (batch..., m, n, k); bf16 accumulates in f32 and is rounded once, after the sum.

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @low_precision(
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<4x6xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: outs(%[[ZERO]] : tensor<4x6xf32>)
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x6xf32>) outs({{.*}} : tensor<4x6xbf16>)
// CHECK: arith.truncf
func.func @low_precision(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %0 = "dl.matmul"(%a, %b) : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
  return %0 : tensor<4x6xbf16>
}

// -----

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d4)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, d3)>
// CHECK-LABEL: func.func @broadcast_batch(
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]],
func.func @broadcast_batch(%a: tensor<2x1x4x8xf32>, %b: tensor<3x8x6xf32>) -> tensor<2x3x4x6xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<2x1x4x8xf32>, tensor<3x8x6xf32>) -> tensor<2x3x4x6xf32>
  return %0 : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @shared_weight(
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: tensor.expand_shape {{.*}} into tensor<2x4x6xf32>
// CHECK-LABEL: func.func @dynamic_rows(
// CHECK-NOT: tensor.collapse_shape
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @shared_weight(%a: tensor<2x4x8xf32>, %b: tensor<8x6xf32>) -> tensor<2x4x6xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<2x4x8xf32>, tensor<8x6xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}

func.func @dynamic_rows(%a: tensor<?x4x8xf32>, %b: tensor<8x6xf32>) -> tensor<?x4x6xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<?x4x8xf32>, tensor<8x6xf32>) -> tensor<?x4x6xf32>
  return %0 : tensor<?x4x6xf32>
}

// -----

// One name for both batches: they are equal, so neither may be repeated.
// CHECK-LABEL: func.func @equal_dynamic_batches(
// CHECK-NOT: scf.if
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<?x4x8xf32>, tensor<?x8x6xf32>) outs({{.*}} : tensor<?x4x6xf32>)
func.func @equal_dynamic_batches(
    %a: tensor<?x4x8xf32> {dl.dims = ["batch", "", ""]}, %b: tensor<?x8x6xf32> {dl.dims = ["batch", "", ""]}
) -> tensor<?x4x6xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<?x4x8xf32>, tensor<?x8x6xf32>) -> tensor<?x4x6xf32>
  return %0 : tensor<?x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @unrelated_dynamic_batches(
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} "reduction"]} ins({{.*}} : tensor<?x4x8xf32>, tensor<?x8x6xf32>)
func.func @unrelated_dynamic_batches(%a: tensor<?x4x8xf32>, %b: tensor<?x8x6xf32>) -> tensor<?x4x6xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<?x4x8xf32>, tensor<?x8x6xf32>) -> tensor<?x4x6xf32>
  return %0 : tensor<?x4x6xf32>
}

// -----

// A packed matrix: the column tells its block and its place there; static rows are merged.
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @packed(
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]],
// CHECK-SAME: outs({{.*}} : tensor<8x48xf32>)
// CHECK: tensor.expand_shape {{.*}} into tensor<2x4x48xf32>
func.func @packed(%a: tensor<2x4x8xf32>, %b: tensor<3x8x16xf32>) -> tensor<2x4x48xf32> {
  %0 = "dl.packed_matmul"(%a, %b) : (tensor<2x4x8xf32>, tensor<3x8x16xf32>) -> tensor<2x4x48xf32>
  return %0 : tensor<2x4x48xf32>
}

// -----

// f16 on the left side are widened before, where they multiply many columns.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf16>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[WIDE]], %arg1 : tensor<4x8xf32>, tensor<8x48xf16>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg2 : tensor<4x8xf16>, tensor<8x6xf16>)
func.func @halves(%a: tensor<4x8xf16>, %b: tensor<8x48xf16>, %c: tensor<8x6xf16>) -> (tensor<4x48xf16>, tensor<4x6xf16>) {
  %0 = "dl.matmul"(%a, %b) : (tensor<4x8xf16>, tensor<8x48xf16>) -> tensor<4x48xf16>
  %1 = "dl.matmul"(%a, %c) : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16>
  return %0, %1 : tensor<4x48xf16>, tensor<4x6xf16>
}
