// RUN: dlc-opt %s --dl-outline-constants | filecheck %s
// What pads or turns a large weight runs once; a large tensor that is made of next to nothing is left to the model.

// CHECK-LABEL: func.func @precompute() -> (tensor<4128x4096xi8> {dl.param = "w.pad.transpose"})
// CHECK: "dl.pad"
// CHECK-NEXT: "dl.transpose"
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "dl.param"() {dtype = i8, key = "w.pad.transpose", shape = array<i64: 4128, 4096>}
// CHECK-NEXT: "dl.matmul"
func.func @main(%x: tensor<1x4128xi8>) -> tensor<1x4096xi8> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4064, 4128>, dtype = i8} : () -> tensor<4064x4128xi8>
  %0 = "dl.pad"(%w) {low = array<i64: 0, 0>, high = array<i64: 32, 0>} : (tensor<4064x4128xi8>) -> tensor<4096x4128xi8>
  %1 = "dl.transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<4096x4128xi8>) -> tensor<4128x4096xi8>
  %2 = "dl.matmul"(%x, %1) : (tensor<1x4128xi8>, tensor<4128x4096xi8>) -> tensor<1x4096xi8>
  return %2 : tensor<1x4096xi8>
}

// CHECK-LABEL: func.func @made(
// CHECK-NEXT: %[[W:.*]] = "dl.param"() {dtype = i8, key = "v"
// CHECK-NEXT: "dl.pad"(%[[W]])
func.func @made() -> tensor<4x4194320xi8> {
  %w = "dl.param"() {key = "v", shape = array<i64: 4, 8>, dtype = i8} : () -> tensor<4x8xi8>
  %0 = "dl.pad"(%w) {low = array<i64: 0, 0>, high = array<i64: 0, 4194312>} : (tensor<4x8xi8>) -> tensor<4x4194320xi8>
  return %0 : tensor<4x4194320xi8>
}
