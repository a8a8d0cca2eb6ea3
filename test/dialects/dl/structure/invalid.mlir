// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of constants, weights and kernels.

func.func @constant_value() {
  // expected-error @+1 {{'dl.constant' op result 'result' has type tensor<3xf32> but its operands and attributes give tensor<2xf32>}}
  %0 = "dl.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @param_c1() {
  // expected-error @+1 {{'dl.param' op c1: key is empty}}
  %0 = "dl.param"() {key = "", shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  return
}

// -----

func.func @param_c2() {
  // expected-error @+1 {{'dl.param' op c2: shape [-1] has a negative dim}}
  %0 = "dl.param"() {key = "w", shape = array<i64: -1>, dtype = f32} : () -> tensor<?xf32>
  return
}

// -----

func.func @kernel_c1(%arg0: tensor<4xf32>) {
  // expected-error @+1 {{'dl.kernel' op c1: the region must be one block without arguments that ends in dl.yield}}
  %0 = "dl.kernel"() ({
  ^bb0(%arg1: tensor<4xf32>):
    "dl.yield"(%arg1) : (tensor<4xf32>) -> ()
  }) : () -> tensor<4xf32>
  return
}

// -----

func.func @kernel_c2(%arg0: tensor<4xf32>) {
  // expected-error @+1 {{'dl.kernel' op c2: dl.yield gives (tensor<4xf32>) but results are (tensor<4xf32>, tensor<4xf32>)}}
  %0:2 = "dl.kernel"() ({
    "dl.yield"(%arg0) : (tensor<4xf32>) -> ()
  }) : () -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @kernel_attribute(%arg0: tensor<4xf32>) {
  // expected-error @+1 {{'dl.kernel' op has no attribute 'tile' (attributes: none)}}
  %0 = "dl.kernel"() ({
    "dl.yield"(%arg0) : (tensor<4xf32>) -> ()
  }) {tile = 4 : i64} : () -> tensor<4xf32>
  return
}
