// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of reductions.

func.func @reduce_sum_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.reduce_sum' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.reduce_sum"(%arg0) : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

func.func @reduce_sum_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_sum' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.reduce_sum"(%arg0) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_sum_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_sum' op c2: axes [1, -1] name an axis twice}}
  %0 = "dl.reduce_sum"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_mean_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.reduce_mean' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.reduce_mean"(%arg0) : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

func.func @reduce_mean_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_mean' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.reduce_mean"(%arg0) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_mean_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_mean' op c2: axes [1, -1] name an axis twice}}
  %0 = "dl.reduce_mean"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_max_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_max' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.reduce_max"(%arg0) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_max_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_max' op c2: axes [1, -1] name an axis twice}}
  %0 = "dl.reduce_max"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_min_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_min' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.reduce_min"(%arg0) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_min_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_min' op c2: axes [1, -1] name an axis twice}}
  %0 = "dl.reduce_min"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_prod_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.reduce_prod' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.reduce_prod"(%arg0) : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

func.func @reduce_prod_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_prod' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.reduce_prod"(%arg0) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_prod_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reduce_prod' op c2: axes [1, -1] name an axis twice}}
  %0 = "dl.reduce_prod"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @arg_max_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.arg_max' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.arg_max"(%arg0) : (tensor<4xi1>) -> tensor<i64>
  return
}

// -----

func.func @arg_max_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.arg_max' op c1: axis -3 is out of range for rank 2}}
  %0 = "dl.arg_max"(%arg0) {axis = -3 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_max_c2(%arg0: tensor<2x0xf32>) {
  // expected-error @+1 {{'dl.arg_max' op c2: axis 1 has no elements}}
  %0 = "dl.arg_max"(%arg0) {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_min_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.arg_min' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.arg_min"(%arg0) : (tensor<4xi1>) -> tensor<i64>
  return
}

// -----

func.func @arg_min_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.arg_min' op c1: axis -3 is out of range for rank 2}}
  %0 = "dl.arg_min"(%arg0) {axis = -3 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_min_c2(%arg0: tensor<2x0xf32>) {
  // expected-error @+1 {{'dl.arg_min' op c2: axis 1 has no elements}}
  %0 = "dl.arg_min"(%arg0) {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @cumsum_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.cumsum' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.cumsum"(%arg0) {axis = 0 : i64} : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @cumsum_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.cumsum' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.cumsum"(%arg0) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @cumprod_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.cumprod' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8}}
  %0 = "dl.cumprod"(%arg0) {axis = 0 : i64} : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @cumprod_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.cumprod' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.cumprod"(%arg0) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
