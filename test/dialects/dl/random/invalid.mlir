// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of random numbers.

func.func @random_uniform_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.random_uniform' op c1: seed is -1}}
  %0 = "dl.random_uniform"(%arg0) {seed = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @random_uniform_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.random_uniform' op c2: to is i32}}
  %0 = "dl.random_uniform"(%arg0) {seed = 1 : i64, to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @random_uniform_c3(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.random_uniform' op c3: low is 2.0 and high is 1.0}}
  %0 = "dl.random_uniform"(%arg0) {low = 2.0 : f64, seed = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
