// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of the family has a message with the values.

func.func @compress_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi1>) {
  // expected-error @+1 {{'dl.compress' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.compress"(%arg0, %arg1) {axis = 2 : i64} : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<?x4xf32>
  return
}

// -----

func.func @compress_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi1>) {
  // expected-error @+1 {{'dl.compress' op c2: condition is tensor<5xi1> but dim 1 of x is 4}}
  %0 = "dl.compress"(%arg0, %arg1) {axis = 1 : i64} : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<5x?xf32>
  return
}

// -----

func.func @compress_by_a_matrix(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi1>) {
  // expected-error @+1 {{'dl.compress' op c2: condition is tensor<5x1xi1>, no list}}
  %0 = "dl.compress"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<5x1xi1>) -> tensor<?x4xf32>
  return
}

// -----

func.func @compress_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<5xi8>) {
  // expected-error @+1 {{'dl.compress' op t1: operand 'condition' is i8 but must be one of i1}}
  %0 = "dl.compress"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<5xi8>) -> tensor<?x4xf32>
  return
}

// -----

func.func @nonzero_result(%arg0: tensor<5x4xf32>) {
  // expected-error @+1 {{'dl.nonzero' op result 'result' has type tensor<1x?xi64> but its operands and attributes give tensor<2x?xi64>}}
  %0 = "dl.nonzero"(%arg0) : (tensor<5x4xf32>) -> tensor<1x?xi64>
  return
}

// -----

func.func @unique_c1(%arg0: tensor<5xf32>) {
  // expected-error @+1 {{'dl.unique' op c1: axis 1 is out of range for rank 1}}
  %0:4 = "dl.unique"(%arg0) {axis = 1 : i64} : (tensor<5xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<5xi64>, tensor<?xi64>)
  return
}

// -----

func.func @non_max_suppression_c1(%arg0: tensor<1x9x4xf32>, %arg1: tensor<1x2x8xf32>, %arg2: tensor<i64>, %arg3: tensor<f32>) {
  // expected-error @+1 {{'dl.non_max_suppression' op c1: dim 1 of boxes is 9 but dim 2 of scores is 8}}
  %0 = "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3) : (tensor<1x9x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_c2(%arg0: tensor<1x9x4xf32>, %arg1: tensor<1x2x9xf32>, %arg2: tensor<1xi64>, %arg3: tensor<f32>) {
  // expected-error @+1 {{'dl.non_max_suppression' op c2: max_output is tensor<1xi64>, not a scalar}}
  %0 = "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3) : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<1xi64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_t1(%arg0: tensor<1x9x4xf64>, %arg1: tensor<1x2x9xf32>, %arg2: tensor<i64>, %arg3: tensor<f32>) {
  // expected-error @+1 {{'dl.non_max_suppression' op t1: operand 'boxes' is f64 but must be one of f32}}
  %0 = "dl.non_max_suppression"(%arg0, %arg1, %arg2, %arg3) : (tensor<1x9x4xf64>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}
