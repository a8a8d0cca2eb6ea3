// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of columns put together.

func.func @col2im_c1(%arg0: tensor<8x6xf32>) {
  // expected-error @+1 {{'dl.col2im' op c1: x is tensor<8x6xf32> and image [3, 4]}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<8x6xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @col2im_c2(%arg0: tensor<1x8x6xf32>) {
  // expected-error @+1 {{'dl.col2im' op c2: kernel [2] needs one value per spatial axis, 2}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2>} : (tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @col2im_c3(%arg0: tensor<1x8x6xf32>) {
  // expected-error @+1 {{'dl.col2im' op c3: strides [0, 1] are not positive}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>, strides = array<i64: 0, 1>} : (tensor<1x8x6xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @col2im_c4(%arg0: tensor<1x8x6xf32>) {
  // expected-error @+1 {{'dl.col2im' op c4: the window spans 4 but the padded input has 3 on axis 2}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 4, 2>} : (tensor<1x8x6xf32>) -> tensor<1x1x3x4xf32>
  return
}

// -----

func.func @col2im_c5(%arg0: tensor<1x7x6xf32>) {
  // expected-error @+1 {{'dl.col2im' op c5: dim 1 of x is 7 but windows have 4 taps}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x7x6xf32>) -> tensor<1x1x3x4xf32>
  return
}

// -----

func.func @col2im_c6(%arg0: tensor<1x8x5xf32>) {
  // expected-error @+1 {{'dl.col2im' op c6: the last dim of x is 5 but the number of positions is 6}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x8x5xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @col2im_t1(%arg0: tensor<1x8x6xi1>) {
  // expected-error @+1 {{'dl.col2im' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8}}
  %0 = "dl.col2im"(%arg0) {image = array<i64: 3, 4>, kernel = array<i64: 2, 2>} : (tensor<1x8x6xi1>) -> tensor<1x2x3x4xi1>
  return
}
