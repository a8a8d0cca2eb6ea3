// RUN: dlc-opt %s --split-input-file --dl-use-byte-products | filecheck %s
// Four products of bytes are read at once where an instruction for that is no slower than two of pairs of i16.

// CHECK-LABEL: func.func @fast(
// CHECK: "dl.vnni_matmul"({{.*}}) {columns = 50 : i64} : (tensor<3x8xui8>, tensor<{{.*}}xi32>) -> tensor<3x50xi32>
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64, instructions = {dot_i8 = {cycles = 1.0}}}} {
  func.func @fast(%x: tensor<3x7xi8>) -> tensor<3x50xi32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 7, 50>, dtype = i8} : () -> tensor<7x50xi8>
    %0 = "dl.cast"(%x) {to = i32} : (tensor<3x7xi8>) -> tensor<3x7xi32>
    %1 = "dl.cast"(%w) {to = i32} : (tensor<7x50xi8>) -> tensor<7x50xi32>
    %2 = "dl.matmul"(%0, %1) : (tensor<3x7xi32>, tensor<7x50xi32>) -> tensor<3x50xi32>
    return %2 : tensor<3x50xi32>
  }
}

// -----

// no-match: a slow one. Numbers come as i16, two at a time.
// CHECK-LABEL: func.func @slow(
// CHECK: "dl.vnni_matmul"({{.*}}) {columns = 50 : i64} : (tensor<3x8xi16>, tensor<{{.*}}xi32>) -> tensor<3x50xi32>
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64, instructions = {dot_i8 = {cycles = 6.0}}}} {
  func.func @slow(%x: tensor<3x7xi8>) -> tensor<3x50xi32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 7, 50>, dtype = i8} : () -> tensor<7x50xi8>
    %0 = "dl.cast"(%x) {to = i32} : (tensor<3x7xi8>) -> tensor<3x7xi32>
    %1 = "dl.cast"(%w) {to = i32} : (tensor<7x50xi8>) -> tensor<7x50xi32>
    %2 = "dl.matmul"(%0, %1) : (tensor<3x7xi32>, tensor<7x50xi32>) -> tensor<3x50xi32>
    return %2 : tensor<3x50xi32>
  }
}
