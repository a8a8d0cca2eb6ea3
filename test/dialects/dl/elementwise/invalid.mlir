// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of elementwise arithmetic.

func.func @abs_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.abs' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.abs"(%arg0) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @neg_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.neg' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.neg"(%arg0) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @sign_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.sign' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.sign"(%arg0) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @floor_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.floor' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.floor"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @ceil_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.ceil' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.ceil"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @round_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.round' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.round"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @trunc_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.trunc' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.trunc"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @clip_t1(%arg0: tensor<4xi1>) {
  // expected-error @+1 {{'dl.clip' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.clip"(%arg0) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @clip_c1(%arg0: tensor<4xf32>) {
  // expected-error @+1 {{'dl.clip' op c1: low is NaN}}
  %0 = "dl.clip"(%arg0) {low = 0x7FF8000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clip_c2(%arg0: tensor<4xui8>) {
  // expected-error @+1 {{'dl.clip' op c2: low is -1.0, which is no value of ui8}}
  %0 = "dl.clip"(%arg0) {low = -1.000000e+00 : f64} : (tensor<4xui8>) -> tensor<4xui8>
  return
}

// -----

// One more than the largest number of i64, which f64 does not hold.
func.func @clip_c2_beyond_the_largest(%arg0: tensor<4xi64>) {
  // expected-error @+1 {{'dl.clip' op c2: high is 9.223372036854776e+18, which is no value of i64}}
  %0 = "dl.clip"(%arg0) {high = 9223372036854775808.0 : f64} : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @add_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.add' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.add"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @add_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.add' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.add"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @add_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.add' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @sub_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.sub' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.sub"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @sub_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.sub' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.sub"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @sub_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.sub' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.sub"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @mul_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.mul' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.mul"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @mul_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.mul' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.mul"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @mul_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.mul' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.mul"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @div_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.div' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.div"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @div_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.div' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.div"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @div_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.div' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.div"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @mod_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.mod' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.mod"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @mod_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.mod' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.mod"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @mod_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.mod' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.mod"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @pow_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.pow' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.pow"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @pow_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.pow' op c1: dims 3 and 4 do not broadcast}}
  %0 = "dl.pow"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @max_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.max' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.max"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @max_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.max' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.max"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @max_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.max' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.max"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @min_t1(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>) {
  // expected-error @+1 {{'dl.min' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.min"(%arg0, %arg1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @min_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.min' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.min"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @min_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.min' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.min"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}
