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

// -----

func.func @byte_conv_c1(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op c1: x has rank 4 and weight rank 4}}
  %0 = "dl.byte_conv"(%arg0, %arg1) : (tensor<1x5x5x8xui8>, tensor<3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @byte_conv_c2(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<?x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op c2: weight is tensor<?x3x3x2x16xi32>}}
  %0 = "dl.byte_conv"(%arg0, %arg1) : (tensor<1x5x5x8xui8>, tensor<?x3x3x2x16xi32>) -> tensor<1x3x3x?xi32>
  return
}

// -----

func.func @byte_conv_c3(%arg0: tensor<1x5x5x6xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op c3: x is tensor<1x5x5x6xui8> and weight tensor<1x3x3x2x16xi32>}}
  %0 = "dl.byte_conv"(%arg0, %arg1) : (tensor<1x5x5x6xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @byte_conv_c4(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op c4: strides [2] need one value per spatial axis, 2}}
  %0 = "dl.byte_conv"(%arg0, %arg1) {strides = array<i64: 2>} : (tensor<1x5x5x8xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @byte_conv_c5(%arg0: tensor<1x2x5x8xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op c5: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.byte_conv"(%arg0, %arg1) : (tensor<1x2x5x8xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x1x3x16xi32>
  return
}

// -----

func.func @byte_conv_t1(%arg0: tensor<1x5x5x8xi8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.byte_conv' op t1: operand 'x' is i8 but must be one of ui8}}
  %0 = "dl.byte_conv"(%arg0, %arg1) : (tensor<1x5x5x8xi8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}
