// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights=least=1024 | filecheck %s
// Where one register tile holds all rows, blocks are 64 columns wide if that adds fewer columns than 48 do. Refuses nothing.

// Six rows of four vectors, one row of weights and a number of the other side are 29 registers of 32.
// CHECK-LABEL: func.func @six_rows(
// CHECK: "dl.packed_matmul"({{.*}}) : (tensor<2x3x8xf32>, tensor<8x8x64xf32>) -> tensor<2x3x512xf32>
func.func @six_rows(%x: tensor<2x3x8xf32>) -> tensor<2x3x512xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 512>, dtype = f32} : () -> tensor<8x512xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x512xf32>) -> tensor<2x3x512xf32>
  return %0 : tensor<2x3x512xf32>
}

// no-match: seven rows, an unknown number, a row of weights that others read, and columns that 48 divides, too.
// CHECK-LABEL: func.func @others(
// CHECK: "dl.packed_matmul"({{.*}}) {columns = 512 : i64} : (tensor<7x8xf32>, tensor<11x8x48xf32>) -> tensor<7x512xf32>
// CHECK: "dl.packed_matmul"({{.*}}) {columns = 512 : i64} : (tensor<?x8xf32>, tensor<11x8x48xf32>) -> tensor<?x512xf32>
// CHECK: "dl.packed_matmul"({{.*}}) {columns = 512 : i64} : (tensor<1x8xf32>, tensor<11x8x48xf32>) -> tensor<1x512xf32>
// CHECK: "dl.packed_matmul"({{.*}}) : (tensor<1x8xf32>, tensor<4x8x48xf32>) -> tensor<1x192xf32>
func.func @others(%x: tensor<7x8xf32>, %y: tensor<?x8xf32>, %z: tensor<1x8xf32>)
    -> (tensor<7x512xf32>, tensor<?x512xf32>, tensor<1x512xf32>, tensor<1x192xf32>) {
  %u = "dl.param"() {key = "u", shape = array<i64: 8, 512>, dtype = f32} : () -> tensor<8x512xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 8, 512>, dtype = f32} : () -> tensor<8x512xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 192>, dtype = f32} : () -> tensor<8x192xf32>
  %0 = "dl.matmul"(%x, %u) : (tensor<7x8xf32>, tensor<8x512xf32>) -> tensor<7x512xf32>
  %1 = "dl.matmul"(%y, %v) : (tensor<?x8xf32>, tensor<8x512xf32>) -> tensor<?x512xf32>
  %2 = "dl.matmul"(%z, %v) : (tensor<1x8xf32>, tensor<8x512xf32>) -> tensor<1x512xf32>
  %3 = "dl.matmul"(%z, %w) : (tensor<1x8xf32>, tensor<8x192xf32>) -> tensor<1x192xf32>
  return %0, %1, %2, %3 : tensor<7x512xf32>, tensor<?x512xf32>, tensor<1x512xf32>, tensor<1x192xf32>
}
