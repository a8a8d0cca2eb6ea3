// RUN: dlc-opt %s --dl-pack-weights=least=1024 | filecheck %s
// RUN: dlc-opt %s --dl-pack-weights=least=1024 --dl-pack-weights=least=1024 | filecheck %s
// RUN: dlc-opt %s --dl-pack-weights | filecheck %s --check-prefix=SMALL
// RUN: not dlc-opt %s --dl-pack-weights=least=-1 2>&1 | filecheck %s --check-prefix=LEAST
// Large matrices of weights come in blocks of columns.

// LEAST: error: {{.*}}least is -1; give a number of bytes, 0 or more

// no-match: matrices that are small.
// SMALL-NOT: dl.packed_matmul

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[H:.*]]: tensor<2x3x16xbf16>)
// CHECK: %[[SPLIT:.*]] = "dl.reshape"(%{{.*}}) {shape = array<i64: 8, 2, 48>}
// CHECK: %[[PACKED:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 1, 0, 2>}
// CHECK: "dl.packed_matmul"(%[[X]], %[[PACKED]]) : (tensor<?x8xf32>, tensor<2x8x48xf32>) -> tensor<?x96xf32>
// CHECK: "dl.packed_matmul"(%[[H]], %{{.*}}) : (tensor<2x3x16xbf16>, tensor<1x16x64xbf16>) -> tensor<2x3x64xbf16>
func.func @blocks(%x: tensor<?x8xf32>, %h: tensor<2x3x16xbf16>) -> (tensor<?x96xf32>, tensor<2x3x64xbf16>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 96>, dtype = f32} : () -> tensor<8x96xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<?x8xf32>, tensor<8x96xf32>) -> tensor<?x96xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 16, 64>, dtype = bf16} : () -> tensor<16x64xbf16>
  %1 = "dl.matmul"(%h, %v) : (tensor<2x3x16xbf16>, tensor<16x64xbf16>) -> tensor<2x3x64xbf16>
  return %0, %1 : tensor<?x96xf32>, tensor<2x3x64xbf16>
}

// Zeros fill the last block of the width that needs the fewest; the product knows its columns.
// CHECK-LABEL: func.func @filled(
// CHECK: %[[PADDED:.*]] = "dl.pad"(%{{.*}}) {{.*}} : (tensor<8x95xf32>) -> tensor<8x96xf32>
// CHECK: "dl.packed_matmul"(%{{.*}}, %{{.*}}) {columns = 95 : i64} : (tensor<4x8xf32>, tensor<2x8x48xf32>) -> tensor<4x95xf32>
func.func @filled(%x: tensor<4x8xf32>) -> tensor<4x95xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 95>, dtype = f32} : () -> tensor<8x95xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<8x95xf32>) -> tensor<4x95xf32>
  return %0 : tensor<4x95xf32>
}

// no-match: a computed matrix, and a batch of matrices.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-2: "dl.matmul"
func.func @left(%x: tensor<4x8xf32>, %y: tensor<8x96xf32>) -> (tensor<4x96xf32>, tensor<2x4x96xf32>) {
  %0 = "dl.matmul"(%x, %y) : (tensor<4x8xf32>, tensor<8x96xf32>) -> tensor<4x96xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 8, 96>, dtype = f32} : () -> tensor<2x8x96xf32>
  %1 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<2x8x96xf32>) -> tensor<2x4x96xf32>
  return %0, %1 : tensor<4x96xf32>, tensor<2x4x96xf32>
}
