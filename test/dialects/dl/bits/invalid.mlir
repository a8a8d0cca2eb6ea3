// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of casts of bits.

func.func @bitcast_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.bitcast' op c1: f32 has 32 bits but i64 has 64}}
  %0 = "dl.bitcast"(%arg0) {to = i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  return
}

// -----

func.func @bitcast_c2(%arg0: tensor<2x3xi8>) {
  // expected-error @+1 {{'dl.bitcast' op c2: i8 has bytes that are no i1}}
  %0 = "dl.bitcast"(%arg0) {to = i1} : (tensor<2x3xi8>) -> tensor<2x3xi1>
  return
}
