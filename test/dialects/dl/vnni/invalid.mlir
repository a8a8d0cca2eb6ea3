// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of the family has a message with the values.

func.func @bf16_pairs_t1(%arg0: tensor<4x8xf16>) {
  // expected-error @+1 {{'dl.bf16_pairs' op t1: operand 'x' is f16 but must be one of f32}}
  %0 = "dl.bf16_pairs"(%arg0) : (tensor<4x8xf16>) -> tensor<2x8xi32>
  return
}

// -----

func.func @bf16_pairs_c1(%arg0: tensor<8xf32>) {
  // expected-error @+1 {{'dl.bf16_pairs' op c1: x has rank 1}}
  %0 = "dl.bf16_pairs"(%arg0) : (tensor<8xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @bf16_pairs_c2(%arg0: tensor<?x8xf32>) {
  // expected-error @+1 {{'dl.bf16_pairs' op c2: x is tensor<?x8xf32>}}
  %0 = "dl.bf16_pairs"(%arg0) : (tensor<?x8xf32>) -> tensor<?x8xi32>
  return
}

// -----

func.func @vnni_matmul_t1(%arg0: tensor<4x4xf16>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op t1: operand 'lhs' is f16 but must be one of ui8, i16, f32, bf16}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x4xf16>, tensor<3x2x16xi32>) -> tensor<4x48xf32>
  return
}

// -----

func.func @vnni_matmul_c1(%arg0: tensor<4x4xbf16>, %arg1: tensor<2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c1: lhs has rank 2 and rhs rank 2}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x4xbf16>, tensor<2x16xi32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @vnni_matmul_c2(%arg0: tensor<4x4xbf16>, %arg1: tensor<?x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c2: rhs is tensor<?x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x4xbf16>, tensor<?x2x16xi32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @vnni_matmul_c3(%arg0: tensor<4x3xbf16>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c3: lhs is tensor<4x3xbf16> and rhs tensor<3x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x3xbf16>, tensor<3x2x16xi32>) -> tensor<4x48xf32>
  return
}

// -----

func.func @vnni_matmul_c4(%arg0: tensor<4x4xbf16>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c4: columns is 32 but rhs is tensor<3x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) {columns = 32 : i64} : (tensor<4x4xbf16>, tensor<3x2x16xi32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @vnni_conv_t1(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<3x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op t1: operand 'x' is f16 but must be one of ui8, i16, f32, bf16}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf16>, tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_conv_c1(%arg0: tensor<1x8x8x4xbf16>, %arg1: tensor<3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c1: x has rank 4 and weight rank 4}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x8x8x4xbf16>, tensor<3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_conv_c2(%arg0: tensor<1x8x8x4xbf16>, %arg1: tensor<3x3x?x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c2: weight is tensor<3x3x?x2x16xi32>}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x8x8x4xbf16>, tensor<3x3x?x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_conv_c3(%arg0: tensor<1x8x8x3xbf16>, %arg1: tensor<3x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c3: x is tensor<1x8x8x3xbf16> and weight tensor<3x3x3x2x16xi32>}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x8x8x3xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_conv_c4(%arg0: tensor<1x8x8x4xbf16>, %arg1: tensor<3x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c4: strides [2] need one value per spatial axis, 2}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) {strides = array<i64: 2>} : (tensor<1x8x8x4xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_conv_c5(%arg0: tensor<1x2x8x4xbf16>, %arg1: tensor<3x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c5: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x2x8x4xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<1x6x6x48xf32>
  return
}

// -----

func.func @vnni_matmul_t1_bytes(%arg0: tensor<4x8xi8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op t1: operand 'lhs' is i8 but must be one of ui8, i16, f32, bf16}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x8xi8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  return
}

// -----

func.func @vnni_matmul_c1_bytes(%arg0: tensor<4x8xui8>, %arg1: tensor<2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c1: lhs has rank 2 and rhs rank 2}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<2x16xi32>) -> tensor<4x16xi32>
  return
}

// -----

func.func @vnni_matmul_c2_bytes(%arg0: tensor<4x8xui8>, %arg1: tensor<?x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c2: rhs is tensor<?x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<?x2x16xi32>) -> tensor<4x?xi32>
  return
}

// -----

func.func @vnni_matmul_c3_bytes(%arg0: tensor<4x7xui8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c3: lhs is tensor<4x7xui8> and rhs tensor<3x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x7xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  return
}

// -----

func.func @vnni_matmul_c4_bytes(%arg0: tensor<4x8xui8>, %arg1: tensor<3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_matmul' op c4: columns is 32 but rhs is tensor<3x2x16xi32>}}
  %0 = "dl.vnni_matmul"(%arg0, %arg1) {columns = 32 : i64} : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x32xi32>
  return
}

// -----

func.func @vnni_conv_c1_bytes(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c1: x has rank 4 and weight rank 4}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x5x5x8xui8>, tensor<3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @vnni_conv_c2_bytes(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<?x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c2: weight is tensor<?x3x3x2x16xi32>}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x5x5x8xui8>, tensor<?x3x3x2x16xi32>) -> tensor<1x3x3x?xi32>
  return
}

// -----

func.func @vnni_conv_c3_bytes(%arg0: tensor<1x5x5x6xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c3: x is tensor<1x5x5x6xui8> and weight tensor<1x3x3x2x16xi32>}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x5x5x6xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @vnni_conv_c4_bytes(%arg0: tensor<1x5x5x8xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c4: strides [2] need one value per spatial axis, 2}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) {strides = array<i64: 2>} : (tensor<1x5x5x8xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}

// -----

func.func @vnni_conv_c5_bytes(%arg0: tensor<1x2x5x8xui8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op c5: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x2x5x8xui8>, tensor<1x3x3x2x16xi32>) -> tensor<1x1x3x16xi32>
  return
}

// -----

func.func @vnni_conv_t1_bytes(%arg0: tensor<1x5x5x8xi8>, %arg1: tensor<1x3x3x2x16xi32>) {
  // expected-error @+1 {{'dl.vnni_conv' op t1: operand 'x' is i8 but must be one of ui8, i16, f32, bf16}}
  %0 = "dl.vnni_conv"(%arg0, %arg1) : (tensor<1x5x5x8xi8>, tensor<1x3x3x2x16xi32>) -> tensor<1x3x3x16xi32>
  return
}
