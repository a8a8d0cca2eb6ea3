// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of ops that reshape, reorder and repeat.

func.func @reshape_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reshape' op c1: shape [-1, -1] leaves 2 dims open, of which sizes gives none}}
  %0 = "dl.reshape"(%arg0) {shape = array<i64: -1, -1>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reshape' op c2: 6 elements are no multiple of 8}}
  %0 = "dl.reshape"(%arg0) {shape = array<i64: 4, 2>} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @reshape_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xi64>) {
  // expected-error @+1 {{'dl.reshape' op c3: sizes is tensor<3xi64> but needs one element per dim of the result, 2}}
  %0 = "dl.reshape"(%arg0, %arg1) {shape = array<i64: -1, -1>} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_c4(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.reshape' op c4: copied [2] holds 2, which is no axis of tensor<2x3xf32>}}
  %0 = "dl.reshape"(%arg0) {copied = array<i64: 2>, shape = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @reshape_t1(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi32>) {
  // expected-error @+1 {{'dl.reshape' op t1: operand 'sizes' is i32 but must be one of i64}}
  %0 = "dl.reshape"(%arg0, %arg1) {shape = array<i64: -1, -1>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @transpose_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.transpose' op c1: perm [0, 0] is no order of 2 axes}}
  %0 = "dl.transpose"(%arg0) {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @expand_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.expand' op c1: dims 2 and 4 do not broadcast}}
  %0 = "dl.expand"(%arg0) {shape = array<i64: 4, 3>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @expand_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.expand' op c2: shape [-1, 3] has an entry below 0}}
  %0 = "dl.expand"(%arg0) {shape = array<i64: -1, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xi64>) {
  // expected-error @+1 {{'dl.expand' op c3: sizes is tensor<3xi64> but needs one element per entry of shape, 2}}
  %0 = "dl.expand"(%arg0, %arg1) {shape = array<i64: -1, 3>} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_t1(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>) {
  // expected-error @+1 {{'dl.expand' op t1: operand 'sizes' is f32 but must be one of i64}}
  %0 = "dl.expand"(%arg0, %arg1) {shape = array<i64: -1, 3>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @squeeze_c1(%arg0: tensor<2x1xf32>) {
  // expected-error @+1 {{'dl.squeeze' op c1: axes [1, -1] hold one axis twice}}
  %0 = "dl.squeeze"(%arg0) {axes = array<i64: 1, -1>} : (tensor<2x1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @squeeze_c2(%arg0: tensor<2x1xf32>) {
  // expected-error @+1 {{'dl.squeeze' op c2: dim 0 is 2}}
  %0 = "dl.squeeze"(%arg0) {axes = array<i64: 0>} : (tensor<2x1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @unsqueeze_c1(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{'dl.unsqueeze' op c1: axis 3 is out of range for rank 2}}
  %0 = "dl.unsqueeze"(%arg0) {axes = array<i64: 3>} : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @tile_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.tile' op c1: 1 repeats for rank 2}}
  %0 = "dl.tile"(%arg0) {repeats = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @tile_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.tile' op c2: repeats [2, -1] has a negative entry}}
  %0 = "dl.tile"(%arg0) {repeats = array<i64: 2, -1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}
