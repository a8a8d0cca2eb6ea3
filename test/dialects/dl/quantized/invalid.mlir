// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of the family has a message with the values.

func.func @byte_matmul_t1(%arg0: tensor<4x8xi8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_matmul' op t1: operand 'lhs' is i8 but must be one of ui8}}
  %0 = "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x8xi8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  return
}

// -----

func.func @byte_matmul_c1(%arg0: tensor<4x8xui8>, %arg1: tensor<2x16xi32>) {
  // expected-error @+1 {{'dl.byte_matmul' op c1: lhs has rank 2 and rhs rank 2}}
  %0 = "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<2x16xi32>) -> tensor<4x16xi32>
  return
}

// -----

func.func @byte_matmul_c2(%arg0: tensor<4x8xui8>, %arg1: tensor<?x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_matmul' op c2: rhs is tensor<?x2x16xi32>}}
  %0 = "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<?x2x16xi32>) -> tensor<4x?xi32>
  return
}

// -----

func.func @byte_matmul_c3(%arg0: tensor<4x7xui8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_matmul' op c3: lhs is tensor<4x7xui8> and rhs tensor<3x2x16xi32>}}
  %0 = "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x7xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  return
}

// -----

func.func @byte_matmul_c4(%arg0: tensor<4x8xui8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_matmul' op c4: columns is 32 but rhs is tensor<3x2x16xi32>}}
  %0 = "dl.byte_matmul"(%arg0, %arg1) {columns = 32 : i64} : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x32xi32>
  return
}
