// RUN: dlc-opt %s --dl-decompose-gelu | filecheck %s
// GELU becomes a product with the error function. The pass refuses nothing.

// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<5.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.mul"(%arg0, %[[K0]])
// CHECK-NEXT: %[[K1:.*]] = "dl.constant"() {value = dense<0.707106769> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = "dl.mul"(%arg0, %[[K1]])
// CHECK-NEXT: %[[V2:.*]] = "dl.erf"(%[[V1]])
// CHECK-NEXT: %[[K2:.*]] = "dl.constant"() {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V3:.*]] = "dl.add"(%[[V2]], %[[K2]])
// CHECK-NEXT: %[[V4:.*]] = "dl.mul"(%[[V0]], %[[V3]])
// CHECK-NEXT: return %[[V4]]
func.func @gelu(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.gelu"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @by_tanh(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<5.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.mul"(%arg0, %[[K0]])
// CHECK-NEXT: %[[V1:.*]] = "dl.mul"(%arg0, %arg0)
// CHECK-NEXT: %[[V2:.*]] = "dl.mul"(%arg0, %[[V1]])
// CHECK-NEXT: %[[K1:.*]] = "dl.constant"() {value = dense<4.471500e-02> : tensor<f32>}
// CHECK-NEXT: %[[V3:.*]] = "dl.mul"(%[[V2]], %[[K1]])
// CHECK-NEXT: %[[V4:.*]] = "dl.add"(%arg0, %[[V3]])
// CHECK-NEXT: %[[K2:.*]] = "dl.constant"() {value = dense<0.797884583> : tensor<f32>}
// CHECK-NEXT: %[[V5:.*]] = "dl.mul"(%[[V4]], %[[K2]])
// CHECK-NEXT: %[[V6:.*]] = "dl.tanh"(%[[V5]])
// CHECK-NEXT: %[[K3:.*]] = "dl.constant"() {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V7:.*]] = "dl.add"(%[[V6]], %[[K3]])
// CHECK-NEXT: %[[V8:.*]] = "dl.mul"(%[[V0]], %[[V7]])
// CHECK-NEXT: return %[[V8]]
func.func @by_tanh(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.gelu"(%x) {approximate = "tanh"} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.gelu"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.gelu"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  return %0 : tensor<2x3x4xf16>
}

// no-match: another op.

// CHECK-LABEL: func.func @other(
// CHECK-NEXT: %[[Y:.*]] = "dl.tanh"(%arg0)
// CHECK-NEXT: return %[[Y]]
func.func @other(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.tanh"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
