// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of the family has a message with the values.

func.func @winograd_conv_c1(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<16x1x4x4xf64>) {
  // expected-error @+1 {{'dl.winograd_conv' op c1: expects one element type but x is f32, weight is f64}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf32>, tensor<16x1x4x4xf64>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @winograd_conv_c2(%arg0: tensor<1x8x4xf32>, %arg1: tensor<16x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c2: x has rank 3 and weight rank 4}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x8x4xf32>, tensor<16x1x4x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @winograd_conv_c3(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<9x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c3: weight dim 0 is 9, not 16 or 36}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf32>, tensor<9x1x4x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @winograd_conv_c3_strided(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<36x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c3: weight dim 0 is 36, not 16}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) {stride = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<36x1x4x4xf32>) -> tensor<1x3x3x4xf32>
  return
}

// -----

func.func @winograd_conv_c3_stride(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<16x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c3: stride is 3, not 1 or 2}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) {stride = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<16x1x4x4xf32>) -> tensor<1x2x2x4xf32>
  return
}

// -----

func.func @winograd_conv_c4(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<16x1x5x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c4: x dim 3 is 4 but weight dim 2 is 5}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf32>, tensor<16x1x5x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @winograd_conv_c5(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<16x2x4x4xf32>, %arg2: tensor<4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c5: bias dim 0 is 4 but the number of output channels is 8}}
  %0 = "dl.winograd_conv"(%arg0, %arg1, %arg2) : (tensor<1x8x8x4xf32>, tensor<16x2x4x4xf32>, tensor<4xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @winograd_conv_c6(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<16x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c6: pads [1, 1] need two values per spatial axis, 4}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) {pads = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<16x1x4x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @winograd_conv_c7(%arg0: tensor<1x?x8x4xf32>, %arg1: tensor<16x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c7: x dim 1 must be known}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) {stride = 2 : i64} : (tensor<1x?x8x4xf32>, tensor<16x1x4x4xf32>) -> tensor<1x?x3x4xf32>
  return
}

// -----

func.func @winograd_conv_c7_small(%arg0: tensor<1x2x8x4xf32>, %arg1: tensor<16x1x4x4xf32>) {
  // expected-error @+1 {{'dl.winograd_conv' op c7: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x2x8x4xf32>, tensor<16x1x4x4xf32>) -> tensor<1x0x6x4xf32>
  return
}

// -----

func.func @winograd_conv_t1(%arg0: tensor<1x8x8x4xf16>, %arg1: tensor<16x1x4x4xf16>) {
  // expected-error @+1 {{'dl.winograd_conv' op t1: operand 'x' is f16 but must be one of f64, f32}}
  %0 = "dl.winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xf16>, tensor<16x1x4x4xf16>) -> tensor<1x6x6x4xf16>
  return
}

// -----

func.func @pair_winograd_conv_t1(%arg0: tensor<1x8x8x4xui8>, %arg1: tensor<16x1x2x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op t1: operand 'x' is ui8 but must be one of i16}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xui8>, tensor<16x1x2x4xi32>) -> tensor<1x6x6x4xi32>
  return
}

// -----

func.func @pair_winograd_conv_c1(%arg0: tensor<1x8x4xi16>, %arg1: tensor<16x1x2x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op c1: x has rank 3 and weight rank 4}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) : (tensor<1x8x4xi16>, tensor<16x1x2x4xi32>) -> tensor<1x6x4xi32>
  return
}

// -----

func.func @pair_winograd_conv_c2(%arg0: tensor<1x8x8x4xi16>, %arg1: tensor<36x1x2x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op c2: weight is tensor<36x1x2x4xi32>}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xi16>, tensor<36x1x2x4xi32>) -> tensor<1x6x6x4xi32>
  return
}

// -----

func.func @pair_winograd_conv_c3(%arg0: tensor<1x8x8x4xi16>, %arg1: tensor<16x1x4x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op c3: x is tensor<1x8x8x4xi16> and weight tensor<16x1x4x4xi32>}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) : (tensor<1x8x8x4xi16>, tensor<16x1x4x4xi32>) -> tensor<1x6x6x4xi32>
  return
}

// -----

func.func @pair_winograd_conv_c4(%arg0: tensor<1x8x8x4xi16>, %arg1: tensor<16x1x2x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op c4: pads [1, 1] need two values per spatial axis, 4}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) {pads = array<i64: 1, 1>} : (tensor<1x8x8x4xi16>, tensor<16x1x2x4xi32>) -> tensor<1x6x6x4xi32>
  return
}

// -----

func.func @pair_winograd_conv_c5(%arg0: tensor<1x2x8x4xi16>, %arg1: tensor<16x1x2x4xi32>) {
  // expected-error @+1 {{'dl.pair_winograd_conv' op c5: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) : (tensor<1x2x8x4xi16>, tensor<16x1x2x4xi32>) -> tensor<1x0x6x4xi32>
  return
}
