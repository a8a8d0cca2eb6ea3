// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of products with wide results has a message with the values.

func.func @widening_matmul_t1(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>) {
  // expected-error @+1 {{'dl.widening_matmul' op t1: operand 'lhs' is f32 but must be one of f16, bf16}}
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @widening_matmul_c1(%arg0: tensor<4x8xf16>, %arg1: tensor<8x4xbf16>) {
  // expected-error @+1 {{'dl.widening_matmul' op c1: expects one element type but lhs is f16, rhs is bf16}}
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<4x8xf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
  return
}

// -----

func.func @widening_matmul_c2(%arg0: tensor<8xf16>, %arg1: tensor<8x4xf16>) {
  // expected-error @+1 {{'dl.widening_matmul' op c2: lhs has rank 1 and rhs rank 2}}
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<8xf16>, tensor<8x4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @widening_matmul_c3(%arg0: tensor<4x64xf16>, %arg1: tensor<32x8xf16>) {
  // expected-error @+1 {{'dl.widening_matmul' op c3: lhs dim -1 is 64 but rhs dim -2 is 32}}
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<4x64xf16>, tensor<32x8xf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @widening_matmul_c4(%arg0: tensor<2x4x8xf16>, %arg1: tensor<3x8x4xf16>) {
  // expected-error @+1 {{'dl.widening_matmul' op c4: dims 2 and 3 do not broadcast}}
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<2x4x8xf16>, tensor<3x8x4xf16>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @widening_conv_t1(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x2xf32>) {
  // expected-error @+1 {{'dl.widening_conv' op t1: operand 'x' is f32 but must be one of f16, bf16}}
  %0 = "dl.widening_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @widening_conv_c1(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<3x3x4x2xbf16>) {
  // expected-error @+1 {{'dl.widening_conv' op c1: expects one element type but x is f16, weight is bf16}}
  %0 = "dl.widening_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf16>, tensor<3x3x4x2xbf16>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @widening_conv_c2(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<3x4x2xf16>) {
  // expected-error @+1 {{'dl.widening_conv' op c2: x has rank 4 and weight rank 3}}
  %0 = "dl.widening_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf16>, tensor<3x4x2xf16>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @widening_conv_c3(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<3x3x3x2xf16>) {
  // expected-error @+1 {{'dl.widening_conv' op c3: x dim -1 is 4 but weight dim -2 is 3}}
  %0 = "dl.widening_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf16>, tensor<3x3x3x2xf16>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @widening_conv_c4(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<3x3x4x2xf16>) {
  // expected-error @+1 {{'dl.widening_conv' op c4: strides [2] need one value per spatial axis, 2}}
  %0 = "dl.widening_conv"(%arg0, %arg1) {strides = array<i64: 2>} : (tensor<1x8x8x4xf16>, tensor<3x3x4x2xf16>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @widening_conv_c5(%arg0: tensor<1x2x8x4xf16>, %arg1: tensor<3x3x4x2xf16>) {
  // expected-error @+1 {{'dl.widening_conv' op c5: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.widening_conv"(%arg0, %arg1) : (tensor<1x2x8x4xf16>, tensor<3x3x4x2xf16>) -> tensor<1x6x6x2xf32>
  return
}
