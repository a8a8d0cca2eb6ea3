// RUN: dlc-opt %s --dl-outline-constants | filecheck %s
// What pads or turns a large weight runs once; a large tensor that is made of next to nothing is left to the model.

// CHECK-LABEL: func.func @precompute() -> (tensor<9216x4128xf32> {dl.param = "w.pad.transpose"})
// CHECK: "dl.pad"
// CHECK-NEXT: "dl.transpose"
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "dl.param"() {dtype = f32, key = "w.pad.transpose", shape = array<i64: 9216, 4128>}
// CHECK-NEXT: "dl.matmul"
func.func @main(%x: tensor<1x9216xf32>) -> tensor<1x4128xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4096, 9216>, dtype = f32} : () -> tensor<4096x9216xf32>
  %0 = "dl.pad"(%w) {low = array<i64: 0, 0>, high = array<i64: 32, 0>} : (tensor<4096x9216xf32>) -> tensor<4128x9216xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<4128x9216xf32>) -> tensor<9216x4128xf32>
  %2 = "dl.matmul"(%x, %1) : (tensor<1x9216xf32>, tensor<9216x4128xf32>) -> tensor<1x4128xf32>
  return %2 : tensor<1x4128xf32>
}

// CHECK-LABEL: func.func @made(
// CHECK-NEXT: %[[W:.*]] = "dl.param"() {dtype = f32, key = "v"
// CHECK-NEXT: "dl.pad"(%[[W]])
func.func @made() -> tensor<4x33554432xf32> {
  %w = "dl.param"() {key = "v", shape = array<i64: 4, 8>, dtype = f32} : () -> tensor<4x8xf32>
  %0 = "dl.pad"(%w) {low = array<i64: 0, 0>, high = array<i64: 0, 33554424>} : (tensor<4x8xf32>) -> tensor<4x33554432xf32>
  return %0 : tensor<4x33554432xf32>
}
