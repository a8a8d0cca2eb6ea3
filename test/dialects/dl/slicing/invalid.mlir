// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of ops that join, cut and pad.

func.func @concat_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.concat' op c1: expects one element type but lhs is f32, rhs is i32}}
  %0 = "dl.concat"(%arg0, %arg1) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.concat' op c2: lhs is tensor<2x3xf32> but rhs tensor<3xf32>}}
  %0 = "dl.concat"(%arg0, %arg1) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @concat_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.concat' op c3: dim 1 of lhs is 3 but dim 1 of rhs is 4}}
  %0 = "dl.concat"(%arg0, %arg1) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.slice' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.slice"(%arg0) {axes = array<i64: 2>, ends = array<i64: 1>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.slice' op c2: starts [] have 0 entries for 1 axes}}
  %0 = "dl.slice"(%arg0) {axes = array<i64: 1>, ends = array<i64: 1>, steps = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @slice_c3(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.slice' op c3: steps [0] for 1 axes}}
  %0 = "dl.slice"(%arg0) {axes = array<i64: 1>, ends = array<i64: 1>, starts = array<i64: 0>, steps = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @slice_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.slice' op c4: bounds is tensor<2xi64> but needs one element per start and end that is no attribute, 1}}
  %0 = "dl.slice"(%arg0, %arg1) {axes = array<i64: 1>, ends = array<i64: 1>, steps = array<i64: 1>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @slice_t1(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi32>) {
  // expected-error @+1 {{'dl.slice' op t1: operand 'bounds' is i32 but must be one of i64}}
  %0 = "dl.slice"(%arg0, %arg1) {axes = array<i64: 1>, starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @pad_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.pad' op c1: low [1] and high [0, 1] do not have 2 entries}}
  %0 = "dl.pad"(%arg0) {high = array<i64: 0, 1>, low = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @pad_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<1xf32>) {
  // expected-error @+1 {{'dl.pad' op c2: value is tensor<1xf32> in mode constant for x tensor<2x3xf32>}}
  %0 = "dl.pad"(%arg0, %arg1) {high = array<i64: 0, 1>, low = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @pad_c3(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.pad' op c3: axis 1 of size 3 is cropped by 4}}
  %0 = "dl.pad"(%arg0) {high = array<i64: 0, -2>, low = array<i64: 1, -2>} : (tensor<2x3xf32>) -> tensor<3x0xf32>
  return
}

// -----

func.func @dynamic_pad_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.dynamic_pad' op c1: counts is tensor<2xi64> but needs one element per side of each axis, 4}}
  %0 = "dl.dynamic_pad"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_pad_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi64>, %arg2: tensor<f32>) {
  // expected-error @+1 {{'dl.dynamic_pad' op c2: value is tensor<f32> in mode edge for x tensor<2x3xf32>}}
  %0 = "dl.dynamic_pad"(%arg0, %arg1, %arg2) {mode = "edge"} : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_pad_t1(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi32>) {
  // expected-error @+1 {{'dl.dynamic_pad' op t1: operand 'counts' is i32 but must be one of i64}}
  %0 = "dl.dynamic_pad"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<?x?xf32>
  return
}
