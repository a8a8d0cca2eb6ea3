// RUN: dlc-opt %s --split-input-file --dl-lower-precision=to=bf16 | filecheck %s
// Dot products of bf16 are taken where they are no slower than multiply-adds of f32, not where they are there.

// As many products a cycle as multiply-adds have: half the bytes make up for nothing else.
// CHECK-LABEL: func.func @fast(
// CHECK: "dl.cast"({{.*}} -> tensor<?x8xbf16>
// CHECK: "dl.vnni_matmul"({{.*}} : (tensor<?x8xbf16>, tensor<3x4x16xi32>) -> tensor<?x33xf32>
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 2 : i64, instructions = {dot_bf16 = {cycles = 1.0}}}} {
  func.func @fast(%x: tensor<?x8xf32>) -> tensor<?x33xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 3, 8, 16>, dtype = f32} : () -> tensor<3x8x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) {columns = 33 : i64} : (tensor<?x8xf32>, tensor<3x8x16xf32>) -> tensor<?x33xf32>
    return %0 : tensor<?x33xf32>
  }
}

// -----

// Without a figure a dot product starts as often as a multiply-add.
// CHECK-LABEL: func.func @default(
// CHECK: "dl.vnni_matmul"({{.*}} : (tensor<?x8xbf16>,
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64}} {
  func.func @default(%x: tensor<?x8xf32>) -> tensor<?x33xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 3, 8, 16>, dtype = f32} : () -> tensor<3x8x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) {columns = 33 : i64} : (tensor<?x8xf32>, tensor<3x8x16xf32>) -> tensor<?x33xf32>
    return %0 : tensor<?x33xf32>
  }
}

// -----

// Slow ones: weights are bf16 in memory, and multiplied as f32; convolutions stay f32. An unknown number of rows counts as one.
// CHECK-LABEL: func.func @slow(
// CHECK-NOT: dl.cast
// CHECK: "dl.vnni_matmul"({{.*}} : (tensor<?x1024xf32>, tensor<64x512x16xi32>) -> tensor<?x1024xf32>
// CHECK: "dl.conv"({{.*}} -> tensor<?x4x4x16xf32>
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64, instructions = {dot_bf16 = {cycles = 4.0}}}} {
  func.func @slow(%x: tensor<?x1024xf32>, %image: tensor<?x6x6x4xf32>) -> (tensor<?x1024xf32>, tensor<?x4x4x16xf32>) {
    %w = "dl.param"() {key = "w", shape = array<i64: 64, 1024, 16>, dtype = f32} : () -> tensor<64x1024x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) : (tensor<?x1024xf32>, tensor<64x1024x16xf32>) -> tensor<?x1024xf32>
    %k = "dl.param"() {key = "k", shape = array<i64: 1, 3, 3, 4, 16>, dtype = f32} : () -> tensor<1x3x3x4x16xf32>
    %1 = "dl.conv"(%image, %k) {channels_last = true} : (tensor<?x6x6x4xf32>, tensor<1x3x3x4x16xf32>) -> tensor<?x4x4x16xf32>
    return %0, %1 : tensor<?x1024xf32>, tensor<?x4x4x16xf32>
  }
}

// -----

// no-match: 256 rows use a weight again, so that to widen it for every tile of rows takes longer than half its bytes save; so do
// weights that the nearest cache holds for a single tile of rows.
// CHECK-LABEL: func.func @many_rows(
// CHECK: "dl.packed_matmul"(
// CHECK-LABEL: func.func @near(
// CHECK: "dl.packed_matmul"(
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "fma"], fma_ports = 2 : i64}} {
  func.func @many_rows(%x: tensor<?x256x1024xf32>) -> tensor<?x256x1024xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 64, 1024, 16>, dtype = f32} : () -> tensor<64x1024x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) : (tensor<?x256x1024xf32>, tensor<64x1024x16xf32>) -> tensor<?x256x1024xf32>
    return %0 : tensor<?x256x1024xf32>
  }
  func.func @near(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 4, 64, 16>, dtype = f32} : () -> tensor<4x64x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) : (tensor<8x64xf32>, tensor<4x64x16xf32>) -> tensor<8x64xf32>
    return %0 : tensor<8x64xf32>
  }
}
