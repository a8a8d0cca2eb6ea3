// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of matrix products.

func.func @matmul_t1(%arg0: tensor<2x2xi1>, %arg1: tensor<2x2xi1>) {
  // expected-error @+1 {{'dl.matmul' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  return
}

// -----

func.func @matmul_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf16>) {
  // expected-error @+1 {{'dl.matmul' op c1: expects one element type but lhs is f32, rhs is f16}}
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_c2(%arg0: tensor<3xf32>, %arg1: tensor<3x4xf32>) {
  // expected-error @+1 {{'dl.matmul' op c2: lhs has rank 1 and rhs rank 2}}
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @matmul_c3(%arg0: tensor<4x64xf32>, %arg1: tensor<32x8xf32>) {
  // expected-error @+1 {{'dl.matmul' op c3: lhs dim -1 is 64 but rhs dim -2 is 32}}
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<4x64xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @matmul_c4(%arg0: tensor<2x4x8xf32>, %arg1: tensor<3x8x4xf32>) {
  // expected-error @+1 {{'dl.matmul' op c4: dims 2 and 3 do not broadcast}}
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<2x4x8xf32>, tensor<3x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @packed_matmul_t1(%arg0: tensor<2x2xi1>, %arg1: tensor<1x2x2xi1>) {
  // expected-error @+1 {{'dl.packed_matmul' op t1: operand 'lhs' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.packed_matmul"(%arg0, %arg1) : (tensor<2x2xi1>, tensor<1x2x2xi1>) -> tensor<2x2xi1>
  return
}

// -----

func.func @packed_matmul_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3x4xf16>) {
  // expected-error @+1 {{'dl.packed_matmul' op c1: expects one element type but lhs is f32, rhs is f16}}
  %0 = "dl.packed_matmul"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3x4xf16>) -> tensor<2x8xf32>
  return
}

// -----

func.func @packed_matmul_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) {
  // expected-error @+1 {{'dl.packed_matmul' op c2: lhs has rank 2 and rhs rank 2}}
  %0 = "dl.packed_matmul"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @packed_matmul_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'dl.packed_matmul' op c3: lhs dim -1 is 3 but rhs dim 1 is 5}}
  %0 = "dl.packed_matmul"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x5x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @packed_matmul_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dl.packed_matmul' op c4: columns is 4 but rhs is tensor<2x3x4xf32>}}
  %0 = "dl.packed_matmul"(%arg0, %arg1) {columns = 4 : i64} : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @det_c1(%arg0: tensor<3xf32>) {
  // expected-error @+1 {{'dl.det' op c1: x has rank 1 but must have 2 or more}}
  %0 = "dl.det"(%arg0) : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @det_c2(%arg0: tensor<3x4xf32>) {
  // expected-error @+1 {{'dl.det' op c2: the number of rows is 3 but that of columns is 4}}
  %0 = "dl.det"(%arg0) : (tensor<3x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @det_t1(%arg0: tensor<3x3xi32>) {
  // expected-error @+1 {{'dl.det' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.det"(%arg0) : (tensor<3x3xi32>) -> tensor<i32>
  return
}
