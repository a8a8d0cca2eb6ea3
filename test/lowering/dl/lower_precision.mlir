// RUN: dlc-opt %s --dl-set-target=target=znver4 --dl-lower-precision=to=bf16 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-lower-precision=to=bf16 | filecheck %s --check-prefix=WIDE
// RUN: dlc-opt %s --dl-lower-precision | filecheck %s --check-prefix=OFF
// RUN: not dlc-opt %s --dl-lower-precision=to=f8 2>&1 | filecheck %s --check-prefix=TYPE
// Weights of products come in pairs of bf16; the other side is rounded where the target multiplies bf16.

// TYPE: option 'to' of pass 'dl-lower-precision' expects one of module, f32, bf16 but got 'f8'
// OFF-NOT: dl.pair_matmul

// CHECK-LABEL: func.func @even(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>)
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[ROUNDED:.*]] = "dl.cast"(%[[X]]) {to = bf16} : (tensor<?x8xf32>) -> tensor<?x8xbf16>
// CHECK: %[[PAIRS:.*]] = "dl.bf16_pairs"(%[[W]]) : (tensor<3x8x16xf32>) -> tensor<3x4x16xi32>
// CHECK: "dl.pair_matmul"(%[[ROUNDED]], %[[PAIRS]]) {columns = 33 : i64} : (tensor<?x8xbf16>, tensor<3x4x16xi32>) -> tensor<?x33xf32>

// WIDE-LABEL: func.func @even(
// WIDE-NOT: dl.cast
// WIDE: "dl.pair_matmul"(%{{.*}}, %{{.*}}) {columns = 33 : i64} : (tensor<?x8xf32>, tensor<3x4x16xi32>) -> tensor<?x33xf32>
func.func @even(%x: tensor<?x8xf32>) -> tensor<?x33xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 8, 16>, dtype = f32} : () -> tensor<3x8x16xf32>
  %0 = "dl.packed_matmul"(%x, %w) {columns = 33 : i64} : (tensor<?x8xf32>, tensor<3x8x16xf32>) -> tensor<?x33xf32>
  return %0 : tensor<?x33xf32>
}

// A column of zeros makes pairs of an odd number of products.
// CHECK-LABEL: func.func @odd(
// CHECK: "dl.pad"({{.*}}) {{.*}} : (tensor<4x7xbf16>) -> tensor<4x8xbf16>
// CHECK: "dl.pair_matmul"
func.func @odd(%x: tensor<4x7xf32>) -> tensor<4x16xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 7, 16>, dtype = f32} : () -> tensor<1x7x16xf32>
  %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x7xf32>, tensor<1x7x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// no-match: a computed matrix, a product of weights alone, and numbers of another type.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-3: "dl.packed_matmul"
// CHECK-NOT: dl.pair_matmul
func.func @left(
    %x: tensor<4x8xf32>, %y: tensor<1x8x16xf32>, %z: tensor<4x8xf64>
) -> (tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf64>) {
  %a = "dl.param"() {key = "a", shape = array<i64: 8, 8>, dtype = f32} : () -> tensor<8x8xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 8, 16>, dtype = f32} : () -> tensor<1x8x16xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 8, 16>, dtype = f64} : () -> tensor<1x8x16xf64>
  %0 = "dl.packed_matmul"(%x, %y) : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x16xf32>
  %1 = "dl.packed_matmul"(%a, %w) : (tensor<8x8xf32>, tensor<1x8x16xf32>) -> tensor<8x16xf32>
  %2 = "dl.packed_matmul"(%z, %v) : (tensor<4x8xf64>, tensor<1x8x16xf64>) -> tensor<4x16xf64>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf64>
}
