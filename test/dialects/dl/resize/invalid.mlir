// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of resize.

func.func @resize_c1(%arg0: tensor<3x4xf32>) {
  // expected-error @+1 {{'dl.resize' op c1: axes [1, -1] hold one axis twice}}
  %0 = "dl.resize"(%arg0) {axes = array<i64: 1, -1>, sizes = array<i64: 5, 5>} : (tensor<3x4xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @resize_c2(%arg0: tensor<3x4xf32>) {
  // expected-error @+1 {{'dl.resize' op c2: sizes [] and scales [] for 1 axes}}
  %0 = "dl.resize"(%arg0) {axes = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @resize_c3(%arg0: tensor<3x4xi32>) {
  // expected-error @+1 {{'dl.resize' op c3: mode is linear but x is tensor<3x4xi32>}}
  %0 = "dl.resize"(%arg0) {axes = array<i64: 1>, mode = "linear", sizes = array<i64: 5>} : (tensor<3x4xi32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @resize_c4(%arg0: tensor<3x0xf32>) {
  // expected-error @+1 {{'dl.resize' op c4: axis 1 of tensor<3x0xf32> is empty}}
  %0 = "dl.resize"(%arg0) {axes = array<i64: 1>, sizes = array<i64: 5>} : (tensor<3x0xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @resize_c5(%arg0: tensor<?x4xf32>) {
  // expected-error @+1 {{'dl.resize' op c5: an axis grows by 1e+30, more than any machine can address}}
  %0 = "dl.resize"(%arg0) {axes = array<i64: 0>, scales = array<f64: 1.0e30>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @dynamic_resize_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi64>) {
  // expected-error @+1 {{'dl.dynamic_resize' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.dynamic_resize"(%arg0, %arg1) {axes = array<i64: 2>} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @dynamic_resize_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.dynamic_resize' op c2: sizes is tensor<2xi64> but needs one element per axis, 1}}
  %0 = "dl.dynamic_resize"(%arg0, %arg1) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @dynamic_resize_c3(%arg0: tensor<2x3xi32>, %arg1: tensor<1xi64>) {
  // expected-error @+1 {{'dl.dynamic_resize' op c3: mode is linear but x is tensor<2x3xi32>}}
  %0 = "dl.dynamic_resize"(%arg0, %arg1) {axes = array<i64: 1>, mode = "linear"} : (tensor<2x3xi32>, tensor<1xi64>) -> tensor<2x?xi32>
  return
}

// -----

func.func @dynamic_resize_t1(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi32>) {
  // expected-error @+1 {{'dl.dynamic_resize' op t1: operand 'sizes' is i32 but must be one of i64}}
  %0 = "dl.dynamic_resize"(%arg0, %arg1) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x?xf32>
  return
}
