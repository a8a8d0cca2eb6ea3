// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of ops whose values depend on their position.

func.func @range_c1(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i32>) {
  // expected-error @+1 {{'dl.range' op c1: expects one element type but start is i64, limit is i64, step is i32}}
  %0 = "dl.range"(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<i32>) -> tensor<?xi64>
  return
}

// -----

func.func @range_c2(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<1xi64>) {
  // expected-error @+1 {{'dl.range' op c2: step is tensor<1xi64>, not a scalar}}
  %0 = "dl.range"(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<?xi64>
  return
}

// -----

func.func @range_t1(%arg0: tensor<i1>, %arg1: tensor<i1>, %arg2: tensor<i1>) {
  // expected-error @+1 {{'dl.range' op t1: operand 'start' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.range"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<?xi1>
  return
}

// -----

func.func @trilu_c1(%arg0: tensor<3xf32>) {
  // expected-error @+1 {{'dl.trilu' op c1: x is tensor<3xf32>, no matrix}}
  %0 = "dl.trilu"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @one_hot_c1(%arg0: tensor<3xi64>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.one_hot' op c1: values is tensor<3xf32>, not two elements}}
  %0 = "dl.one_hot"(%arg0, %arg1) {depth = 4 : i64} : (tensor<3xi64>, tensor<3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @one_hot_c2(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>) {
  // expected-error @+1 {{'dl.one_hot' op c2: axis 2 is out of range for rank 2}}
  %0 = "dl.one_hot"(%arg0, %arg1) {axis = 2 : i64, depth = 4 : i64} : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @one_hot_c3(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>) {
  // expected-error @+1 {{'dl.one_hot' op c3: depth is -1}}
  %0 = "dl.one_hot"(%arg0, %arg1) {depth = -1 : i64} : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @one_hot_t1(%arg0: tensor<3xf32>, %arg1: tensor<2xf32>) {
  // expected-error @+1 {{'dl.one_hot' op t1: operand 'indices' is f32 but must be one of i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.one_hot"(%arg0, %arg1) {depth = 4 : i64} : (tensor<3xf32>, tensor<2xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @one_hot_c4(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>, %arg2: tensor<i64>) {
  // expected-error @+1 {{'dl.one_hot' op c4: size is tensor<i64> and depth is 4; one of them is needed}}
  %0 = "dl.one_hot"(%arg0, %arg1, %arg2) {depth = 4 : i64} : (tensor<3xi64>, tensor<2xf32>, tensor<i64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @one_hot_without_size(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>) {
  // expected-error @+1 {{'dl.one_hot' op c4: size is None and depth is None; one of them is needed}}
  %0 = "dl.one_hot"(%arg0, %arg1) : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @trilu_unsigned_diagonal(%arg0: tensor<4x4xf32>) {
  // expected-error @+1 {{'dl.trilu' op attribute 'k' expects an i64 integer but got 18446744073709551615 : ui64}}
  %0 = "dl.trilu"(%arg0) {k = 18446744073709551615 : ui64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
