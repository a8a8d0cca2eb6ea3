// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of sampling.

func.func @grid_sample_c1(%x: tensor<1x3x4x5xf32>, %grid: tensor<1x6x2xf32>) {
  // expected-error @+1 {{'dl.grid_sample' op c1: x has rank 4 and grid rank 3}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<1x6x2xf32>) -> tensor<1x3x6xf32>
  return
}

// -----

func.func @grid_sample_c2(%x: tensor<1x3x4x5xf32>, %grid: tensor<1x6x7x3xf32>) {
  // expected-error @+1 {{'dl.grid_sample' op c2: the last dim of grid is 3 but the number of spatial axes of x is 2}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<1x6x7x3xf32>) -> tensor<1x3x6x7xf32>
  return
}

// -----

func.func @grid_sample_c3(%x: tensor<1x3x4x5xf32>, %grid: tensor<2x6x7x2xf32>) {
  // expected-error @+1 {{'dl.grid_sample' op c3: dim 0 of x is 1 but dim 0 of grid is 2}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<2x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  return
}

// -----

func.func @grid_sample_c4(%x: tensor<1x3x4x5xi32>, %grid: tensor<1x6x7x2xf32>) {
  // expected-error @+1 {{'dl.grid_sample' op c4: mode is linear but x is tensor<1x3x4x5xi32>}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xi32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xi32>
  return
}

// -----

func.func @grid_sample_c5(%x: tensor<1x3x0x5xf32>, %grid: tensor<1x6x7x2xf32>) {
  // expected-error @+1 {{'dl.grid_sample' op c5: x is tensor<1x3x0x5xf32> but the result has elements}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x0x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  return
}

// -----

func.func @grid_sample_t1(%x: tensor<1x3x4x5xf32>, %grid: tensor<1x6x7x2xi32>) {
  // expected-error @+1 {{'dl.grid_sample' op t1: operand 'grid' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.grid_sample"(%x, %grid) : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xi32>) -> tensor<1x3x6x7xf32>
  return
}
