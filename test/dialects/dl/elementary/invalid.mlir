// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of elementary functions.

func.func @exp_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.exp' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.exp"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @log_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.log' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.log"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @log1p_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.log1p' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.log1p"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @sqrt_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.sqrt' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.sqrt"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @rsqrt_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.rsqrt' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.rsqrt"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @reciprocal_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.reciprocal' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.reciprocal"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @erf_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.erf' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.erf"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @sin_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.sin' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.sin"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @cos_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.cos' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.cos"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @tan_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.tan' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.tan"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @asin_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.asin' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.asin"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @acos_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.acos' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.acos"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @atan_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.atan' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.atan"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @sinh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.sinh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.sinh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @cosh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.cosh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.cosh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @tanh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.tanh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.tanh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @asinh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.asinh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.asinh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @acosh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.acosh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.acosh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @atanh_t1(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.atanh' op t1: operand 'x' is i64 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.atanh"(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
  return
}
