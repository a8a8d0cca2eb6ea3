// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of attention and rotary embedding.

func.func @attention_t1(%arg0: tensor<2x4x5x8xi32>, %arg1: tensor<2x4x5x8xi32>, %arg2: tensor<2x4x5x8xi32>) {
  // expected-error @+1 {{'dl.attention' op t1: operand 'q' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xi32>, tensor<2x4x5x8xi32>, tensor<2x4x5x8xi32>) -> tensor<2x4x5x8xi32>
  return
}

// -----

func.func @attention_c1(
    %arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x7x6xf32>, %arg3: tensor<5x7xf16>
) {
  // expected-error @+1 {{'dl.attention' op c1: mask is f16 but q is f32}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, tensor<5x7xf16>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2(%arg0: tensor<4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'dl.attention' op c2: q has rank 3 but must have 4}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c3(%arg0: tensor<3x4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'dl.attention' op c3: q dim 0 is 3 but k dim 0 is 2}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<3x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x2x7x9xf32>, %arg2: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'dl.attention' op c4: q dim 3 is 8 but k dim 3 is 9}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c5(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x6x6xf32>) {
  // expected-error @+1 {{'dl.attention' op c5: k dim 2 is 7 but v dim 2 is 6}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x6x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c6(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x3x7x8xf32>, %arg2: tensor<2x3x7x6xf32>) {
  // expected-error @+1 {{'dl.attention' op c6: q has 4 heads, not a multiple of 3 kv heads}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c7(
    %arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x7x6xf32>, %arg3: tensor<3x5x7xf32>
) {
  // expected-error @+1 {{'dl.attention' op c7: dims 3 and 4 do not broadcast}}
  %0 = "dl.attention"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, tensor<3x5x7xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @rotary_embedding_t1(%arg0: tensor<2x4x5x8xi32>, %arg1: tensor<2x5x4xi32>, %arg2: tensor<2x5x4xi32>) {
  // expected-error @+1 {{'dl.rotary_embedding' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xi32>, tensor<2x5x4xi32>, tensor<2x5x4xi32>) -> tensor<2x4x5x8xi32>
  return
}

// -----

func.func @rotary_embedding_c1(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x5x4xf32>, %arg2: tensor<2x5x4xf16>) {
  // expected-error @+1 {{'dl.rotary_embedding' op c1: expects one element type but x is f32, cos is f32, sin is f16}}
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf16>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @rotary_embedding_c2(%arg0: tensor<4x5x8xf32>, %arg1: tensor<2x5x4xf32>, %arg2: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'dl.rotary_embedding' op c2: x has rank 3 but must have 4}}
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) : (tensor<4x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @rotary_embedding_c3(%arg0: tensor<2x4x5x7xf32>, %arg1: tensor<2x5x4xf32>, %arg2: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'dl.rotary_embedding' op c3: x dim 3 is 7}}
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) : (tensor<2x4x5x7xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @rotary_embedding_c4(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x5x4xf32>, %arg2: tensor<2x6x4xf32>) {
  // expected-error @+1 {{'dl.rotary_embedding' op c4: x dim 2 is 5 but sin dim 1 is 6}}
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) : (tensor<2x4x5x8xf32>, tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x4x5x8xf32>
  return
}
