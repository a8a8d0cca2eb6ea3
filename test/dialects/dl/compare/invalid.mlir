// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of comparisons, logic on bits and selection.

func.func @equal_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.equal' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.equal"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @equal_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.equal' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xi1>
  return
}

// -----

func.func @not_equal_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.not_equal' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.not_equal"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @not_equal_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.not_equal' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.not_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xi1>
  return
}

// -----

func.func @less_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.less' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.less"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @less_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.less' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.less"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xi1>
  return
}

// -----

func.func @less_equal_c1(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.less_equal' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.less_equal"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @less_equal_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.less_equal' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.less_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xi1>
  return
}

// -----

func.func @isnan_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.isnan' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.isnan"(%arg0) : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @isinf_t1(%arg0: tensor<4xi32>) {
  // expected-error @+1 {{'dl.isinf' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.isinf"(%arg0) : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @and_t1(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.and' op t1: operand 'lhs' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64, i1}}
  %0 = "dl.and"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @and_c1(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) {
  // expected-error @+1 {{'dl.and' op c1: expects one element type but lhs is i32, rhs is i8}}
  %0 = "dl.and"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @and_c2(%arg0: tensor<2x3xi32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.and' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.and"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @or_t1(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.or' op t1: operand 'lhs' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64, i1}}
  %0 = "dl.or"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @or_c1(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) {
  // expected-error @+1 {{'dl.or' op c1: expects one element type but lhs is i32, rhs is i8}}
  %0 = "dl.or"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @or_c2(%arg0: tensor<2x3xi32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.or' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.or"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @xor_t1(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.xor' op t1: operand 'lhs' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64, i1}}
  %0 = "dl.xor"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @xor_c1(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) {
  // expected-error @+1 {{'dl.xor' op c1: expects one element type but lhs is i32, rhs is i8}}
  %0 = "dl.xor"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @xor_c2(%arg0: tensor<2x3xi32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.xor' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.xor"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @not_t1(%arg0: tensor<4xf32>) {
  // expected-error @+1 {{'dl.not' op t1: operand 'x' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64, i1}}
  %0 = "dl.not"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shift_left_t1(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.shift_left' op t1: operand 'lhs' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.shift_left"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shift_left_c1(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) {
  // expected-error @+1 {{'dl.shift_left' op c1: expects one element type but lhs is i32, rhs is i8}}
  %0 = "dl.shift_left"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @shift_left_c2(%arg0: tensor<2x3xi32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.shift_left' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.shift_left"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @shift_right_t1(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.shift_right' op t1: operand 'lhs' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.shift_right"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shift_right_c1(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) {
  // expected-error @+1 {{'dl.shift_right' op c1: expects one element type but lhs is i32, rhs is i8}}
  %0 = "dl.shift_right"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @shift_right_c2(%arg0: tensor<2x3xi32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.shift_right' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.shift_right"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @where_t1(%arg0: tensor<4xi32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  // expected-error @+1 {{'dl.where' op t1: operand 'condition' is i32 but must be one of i1}}
  %0 = "dl.where"(%arg0, %arg1, %arg2) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @where_c1(%arg0: tensor<4xi1>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error @+1 {{'dl.where' op c1: expects one element type but x is f32, y is i32}}
  %0 = "dl.where"(%arg0, %arg1, %arg2) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @where_c2(%arg0: tensor<3xi1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  // expected-error @+1 {{'dl.where' op c2: dims 3 and 4 do not broadcast}}
  %0 = "dl.where"(%arg0, %arg1, %arg2) : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @assert_c1(%arg0: tensor<4xf32>, %arg1: tensor<i1>) {
  // expected-error @+1 {{'dl.assert' op c1: message is '{} is wrong'}}
  %0 = "dl.assert"(%arg0, %arg1) {message = "{} is wrong"} : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @assert_t1(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // expected-error @+1 {{'dl.assert' op t1: operand 'condition' is i32 but must be one of i1}}
  %0 = "dl.assert"(%arg0, %arg1) {message = "no"} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// What is only stored is no number to compare.
func.func @equal_t1(%arg0: tensor<3xf8E5M2>, %arg1: tensor<3xui4>) {
  // expected-error @+1 {{'dl.equal' op t1: operand 'lhs' is f8E5M2 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64, i1}}
  %0 = "dl.equal"(%arg0, %arg0) : (tensor<3xf8E5M2>, tensor<3xf8E5M2>) -> tensor<3xi1>
  return
}
