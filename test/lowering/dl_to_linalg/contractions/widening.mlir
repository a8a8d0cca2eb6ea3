// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Operands are widened as they are read, images are padded in their own type, and results are not rounded.

// CHECK-LABEL: func.func @product(
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%{{.*}} : tensor<4x16xf32>)
// CHECK: %[[L:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[R:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf %[[L]], %[[R]] : f32
// CHECK-NOT: arith.truncf
// CHECK: return %{{.*}} : tensor<4x16xf32>
func.func @product(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>) -> tensor<4x16xf32> {
  %0 = "dl.widening_matmul"(%x, %w) : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @convolution(
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 1, 1, 0] [2, 8, 8, 4] [1, 1, 1, 1] : tensor<2x8x8x4xf16> into tensor<2x10x10x4xf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<2x10x10x4xf16>, tensor<3x3x4x16xf16>) outs(%{{.*}} : tensor<2x8x8x16xf32>)
// CHECK-COUNT-2: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: return %{{.*}} : tensor<2x8x8x16xf32>
func.func @convolution(%x: tensor<2x8x8x4xf16>, %w: tensor<3x3x4x16xf16>) -> tensor<2x8x8x16xf32> {
  %0 = "dl.widening_conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x4xf16>, tensor<3x3x4x16xf16>) -> tensor<2x8x8x16xf32>
  return %0 : tensor<2x8x8x16xf32>
}
