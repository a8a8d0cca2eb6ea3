// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of activation functions.

func.func @relu_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.relu' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.relu"(%arg0) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @leaky_relu_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.leaky_relu' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.leaky_relu"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @prelu_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.prelu' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.prelu"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @prelu_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xf16>) {
  // expected-error @+1 {{'dl.prelu' op c1: expects one element type but x is f32, slope is f16}}
  %0 = "dl.prelu"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @prelu_c2(%arg0: tensor<4xf32>, %arg1: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.prelu' op c2: x is 4 but slope is 2x4}}
  %0 = "dl.prelu"(%arg0, %arg1) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @prelu_c3(%arg0: tensor<4xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.prelu' op c3: x dim -1 is 4 but slope dim -1 is 3}}
  %0 = "dl.prelu"(%arg0, %arg1) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @thresholded_relu_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.thresholded_relu' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.thresholded_relu"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @elu_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.elu' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.elu"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @sigmoid_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.sigmoid' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.sigmoid"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @hard_sigmoid_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.hard_sigmoid' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.hard_sigmoid"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @hard_swish_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.hard_swish' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.hard_swish"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @silu_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.silu' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.silu"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @softplus_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.softplus' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.softplus"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @softsign_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.softsign' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.softsign"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @mish_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.mish' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.mish"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @gelu_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.gelu' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.gelu"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}
