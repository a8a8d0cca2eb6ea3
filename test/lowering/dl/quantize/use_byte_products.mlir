// RUN: dlc-opt %s --dl-set-target=target=cascadelake --dl-use-byte-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cascadelake --dl-use-byte-products --dl-use-byte-products | filecheck %s
// Products of bytes with weights read four at a time. The pass refuses nothing.

// CHECK-LABEL: func.func @zero_point(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xui8>, %[[ZERO:.*]]: tensor<i32>)
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: "dl.reshape"({{.*}}) {shape = array<i64: 2, 4, 1, 64>}
// CHECK: %[[PACKED:.*]] = "dl.transpose"({{.*}}) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x64xi32>) -> tensor<1x2x64xi32>
// CHECK: %[[DOT:.*]] = "dl.vnni_matmul"(%[[X]], %[[PACKED]]) {columns = 64 : i64}
// CHECK: %[[SUMS:.*]] = "dl.reduce_sum"({{.*}}) {axes = array<i64: 0>} : (tensor<8x64xi32>) -> tensor<64xi32>
// CHECK: %[[SHIFT:.*]] = "dl.mul"(%[[SUMS]], %[[ZERO]])
// CHECK: %[[RESULT:.*]] = "dl.sub"(%[[DOT]], %[[SHIFT]])
// CHECK: return %[[RESULT]]
func.func @zero_point(%x: tensor<?x8xui8>, %zero: tensor<i32>) -> tensor<?x64xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 64>, dtype = i8} : () -> tensor<8x64xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<?x8xui8>) -> tensor<?x8xi32>
  %1 = "dl.sub"(%0, %zero) : (tensor<?x8xi32>, tensor<i32>) -> tensor<?x8xi32>
  %2 = "dl.cast"(%w) {to = i32} : (tensor<8x64xi8>) -> tensor<8x64xi32>
  %3 = "dl.matmul"(%1, %2) : (tensor<?x8xi32>, tensor<8x64xi32>) -> tensor<?x64xi32>
  return %3 : tensor<?x64xi32>
}

// Rows and columns of zeros fill words and blocks; signed bytes are raised.
// CHECK-LABEL: func.func @filled(
// CHECK: "dl.cast"({{.*}}) {to = ui8} : (tensor<3x7xi32>) -> tensor<3x7xui8>
// CHECK: "dl.pad"({{.*}}) {{.*}} : (tensor<3x7xui8>) -> tensor<3x8xui8>
// CHECK: "dl.pad"({{.*}}) {{.*}} : (tensor<7x50xi8>) -> tensor<8x64xi8>
// CHECK: "dl.vnni_matmul"({{.*}}) {columns = 50 : i64} : (tensor<3x8xui8>, tensor<1x2x64xi32>) -> tensor<3x50xi32>
func.func @filled(%x: tensor<3x7xi8>) -> tensor<3x50xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 7, 50>, dtype = i8} : () -> tensor<7x50xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<3x7xi8>) -> tensor<3x7xi32>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<7x50xi8>) -> tensor<7x50xi32>
  %2 = "dl.matmul"(%0, %1) : (tensor<3x7xi32>, tensor<7x50xi32>) -> tensor<3x50xi32>
  return %2 : tensor<3x50xi32>
}

// no-match: numbers that are no bytes, a computed matrix, and a zero point for each place of the sum.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-3: "dl.matmul"
// CHECK-NOT: dl.vnni_matmul
func.func @left(
    %x: tensor<4x8xi32>, %y: tensor<4x8xui8>, %z: tensor<8x16xi8>, %zeros: tensor<8xi32>
) -> (tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 16>, dtype = i8} : () -> tensor<8x16xi8>
  %0 = "dl.cast"(%w) {to = i32} : (tensor<8x16xi8>) -> tensor<8x16xi32>
  %1 = "dl.matmul"(%x, %0) : (tensor<4x8xi32>, tensor<8x16xi32>) -> tensor<4x16xi32>
  %2 = "dl.cast"(%y) {to = i32} : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %3 = "dl.cast"(%z) {to = i32} : (tensor<8x16xi8>) -> tensor<8x16xi32>
  %4 = "dl.matmul"(%2, %3) : (tensor<4x8xi32>, tensor<8x16xi32>) -> tensor<4x16xi32>
  %5 = "dl.sub"(%2, %zeros) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
  %6 = "dl.matmul"(%5, %0) : (tensor<4x8xi32>, tensor<8x16xi32>) -> tensor<4x16xi32>
  return %1, %4, %6 : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>
}
