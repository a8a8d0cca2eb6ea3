// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of products with packed weights.

func.func @nbits_matmul_c1(%x: tensor<3x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c1: bits is 3}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) {bits = 3 : i64} : (tensor<3x64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c2(%x: tensor<64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c2: lhs is tensor<64xf32>, words tensor<2x8x16xi32>, scales tensor<2x2x16xf32>}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<32xf32>
  return
}

// -----

func.func @nbits_matmul_c3(%x: tensor<3x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf16>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c3: expects one element type but lhs is f32, scales is f16}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf16>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c4(%x: tensor<3x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x15xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c4: lhs is tensor<3x64xf32>, words tensor<2x8x16xi32>, scales tensor<2x2x15xf32>}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x64xf32>, tensor<2x8x16xi32>, tensor<2x2x15xf32>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c5(%x: tensor<3x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x3x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c5: lhs is tensor<3x64xf32>, words tensor<2x8x16xi32>, scales tensor<2x3x16xf32>}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x64xf32>, tensor<2x8x16xi32>, tensor<2x3x16xf32>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c5_dynamic(%x: tensor<3x64xf32>, %words: tensor<2x?x16xi32>, %scales: tensor<2x2x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c5: lhs is tensor<3x64xf32>, words tensor<2x?x16xi32>, scales tensor<2x2x16xf32>}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x64xf32>, tensor<2x?x16xi32>, tensor<2x2x16xf32>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c6(%x: tensor<3x63xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c6: lhs dim -1 is 63 but the size of a column of words is 64}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x63xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<3x32xf32>
  return
}

// -----

func.func @nbits_matmul_c7(%x: tensor<3x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op c7: columns is 16 but words is tensor<2x8x16xi32>}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) {columns = 16 : i64} : (tensor<3x64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<3x16xf32>
  return
}

// -----

func.func @nbits_matmul_t1(%x: tensor<3x64xi32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xi32>) {
  // expected-error @+1 {{'dl.nbits_matmul' op t1: operand 'lhs' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<3x64xi32>, tensor<2x8x16xi32>, tensor<2x2x16xi32>) -> tensor<3x32xi32>
  return
}
