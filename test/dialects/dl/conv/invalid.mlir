// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of convolutions.

func.func @conv_t1(%arg0: tensor<1x1x4xi1>, %arg1: tensor<1x1x2xi1>) {
  // expected-error @+1 {{'dl.conv' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x1x4xi1>, tensor<1x1x2xi1>) -> tensor<1x1x3xi1>
  return
}

// -----

func.func @conv_c1(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6x4x3x3xf16>) {
  // expected-error @+1 {{'dl.conv' op c1: expects one element type but x is f32, weight is f16}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf16>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c2(%arg0: tensor<4x8xf32>, %arg1: tensor<6x4xf32>) {
  // expected-error @+1 {{'dl.conv' op c2: x has rank 2 but must have 3 to 5}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @conv_c3(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<7x2x3x3xf32>) {
  // expected-error @+1 {{'dl.conv' op c3: weight dim 0 is 7, not a multiple of groups 2}}
  %0 = "dl.conv"(%arg0, %arg1) {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<7x2x3x3xf32>) -> tensor<1x7x6x6xf32>
  return
}

// -----

func.func @conv_c4(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6x3x3x3xf32>) {
  // expected-error @+1 {{'dl.conv' op c4: x dim 1 is 4 but groups 1 times weight dim 1 is 3}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c5(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6x4x3x3xf32>, %arg2: tensor<4xf32>) {
  // expected-error @+1 {{'dl.conv' op c5: bias dim 0 is 4 but the number of output channels is 6}}
  %0 = "dl.conv"(%arg0, %arg1, %arg2) : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c6(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dl.conv' op c6: strides [2] need one value per spatial axis, 2}}
  %0 = "dl.conv"(%arg0, %arg1) {strides = array<i64: 2>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c7(%arg0: tensor<1x4x2x8xf32>, %arg1: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dl.conv' op c7: the window spans 3 but the padded input has 2 on axis 2}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x4x2x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_transpose_t1(%arg0: tensor<1x1x4xi32>, %arg1: tensor<1x1x2xi32>) {
  // expected-error @+1 {{'dl.conv_transpose' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) : (tensor<1x1x4xi32>, tensor<1x1x2xi32>) -> tensor<1x1x5xi32>
  return
}

// -----

func.func @conv_transpose_c1(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf16>) {
  // expected-error @+1 {{'dl.conv_transpose' op c1: expects one element type but x is f32, weight is f16}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf16>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c2(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c2: x has rank 4 but weight has rank 3}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c3(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c3: weight dim 0 is 4, not a multiple of groups 3}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) {groups = 3 : i64} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x18x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c4(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<5x6x3x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c4: x dim 1 is 4 but weight dim 0 is 5}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<5x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c5(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf32>, %arg2: tensor<4xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c5: bias dim 0 is 4 but the number of output channels is 6}}
  %0 = "dl.conv_transpose"(%arg0, %arg1, %arg2) : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<4xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c6(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c6: pads [-1, 0, 0, 0] are negative}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) {pads = array<i64: -1, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c7(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c7: output_padding [1] needs one value of 0 or more per spatial axis, 2}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) {output_padding = array<i64: 1>} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

func.func @conv_transpose_c8(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<4x6x3x3xf32>) {
  // expected-error @+1 {{'dl.conv_transpose' op c8: axis 2 of the result has size -2}}
  %0 = "dl.conv_transpose"(%arg0, %arg1) {pads = array<i64: 6, 0, 6, 0>} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x1x10xf32>
  return
}

// -----

func.func @conv_c4_channels_last(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x3x6xf32>) {
  // expected-error @+1 {{'dl.conv' op c4: x dim 3 is 4 but groups 1 times weight dim 2 is 3}}
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true} : (tensor<1x8x8x4xf32>, tensor<3x3x3x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c7_channels_last(%arg0: tensor<1x2x8x4xf32>, %arg1: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'dl.conv' op c7: the window spans 3 but the padded input has 2 on axis 1}}
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true} : (tensor<1x2x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @conv_c2_blocked(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<2x3x3x4x16xf32>) {
  // expected-error @+1 {{'dl.conv' op c2: x has rank 4 but weight has rank 5}}
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x4x8x8xf32>, tensor<2x3x3x4x16xf32>) -> tensor<1x32x6x6xf32>
  return
}

// -----

func.func @conv_c4_blocked(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<2x3x3x5x16xf32>) {
  // expected-error @+1 {{'dl.conv' op c4: x dim 3 is 4 but groups 1 times weight dim 3 is 5}}
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true} : (tensor<1x8x8x4xf32>, tensor<2x3x3x5x16xf32>) -> tensor<1x6x6x32xf32>
  return
}

// -----

func.func @conv_c3_blocked(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x3x2x16xf32>) {
  // expected-error @+1 {{'dl.conv' op c3: weight dim 0 is 3, not a multiple of groups 2}}
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true, groups = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x3x2x16xf32>) -> tensor<1x6x6x48xf32>
  return
}
