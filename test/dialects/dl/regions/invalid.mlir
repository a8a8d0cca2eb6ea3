// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of regions.

func.func @roi_align_c1(%x: tensor<2x3x8xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c1: x is tensor<2x3x8xf32>, rois tensor<4x4xf32> and images tensor<4xi64>}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c1_numbers(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x5xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c1: dim 1 of rois is 5 but that of a region is 4}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c2(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<3xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c2: the number of regions of rois is 4 but that of images is 3}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<3xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c3(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf64>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c3: expects one element type but x is f32, rois is f64}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf64>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c4(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c4: size is [7, 0]}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 0>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x0xf32>
  return
}

// -----

func.func @roi_align_c5(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c5: sampling_ratio is -1; give 0 to 4096}}
  %0 = "dl.roi_align"(%x, %rois, %images) {sampling_ratio = -1 : i64, size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c5_far(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c5: sampling_ratio is 4097; give 0 to 4096}}
  %0 = "dl.roi_align"(%x, %rois, %images) {sampling_ratio = 4097 : i64, size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_c6(%x: tensor<2x3x0x9xf32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op c6: x is tensor<2x3x0x9xf32> but the result has elements}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x0x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @roi_align_t1(%x: tensor<2x3x8x9xi32>, %rois: tensor<4x4xf32>, %images: tensor<4xi64>) {
  // expected-error @+1 {{'dl.roi_align' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.roi_align"(%x, %rois, %images) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xi32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x7x5xi32>
  return
}

// -----

func.func @max_roi_pool_c1(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x4xf32>) {
  // expected-error @+1 {{'dl.max_roi_pool' op c1: dim 1 of rois is 4 but that of a region with its image is 5}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x4xf32>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @max_roi_pool_c1_rank(%x: tensor<2x3x8xf32>, %rois: tensor<4x5xf32>) {
  // expected-error @+1 {{'dl.max_roi_pool' op c1: x is tensor<2x3x8xf32> and rois tensor<4x5xf32>}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7, 5>} : (tensor<2x3x8xf32>, tensor<4x5xf32>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @max_roi_pool_c2(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x5xf64>) {
  // expected-error @+1 {{'dl.max_roi_pool' op c2: expects one element type but x is f32, rois is f64}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xf32>, tensor<4x5xf64>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @max_roi_pool_c3(%x: tensor<2x3x8x9xf32>, %rois: tensor<4x5xf32>) {
  // expected-error @+1 {{'dl.max_roi_pool' op c3: size is [7]}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7>} : (tensor<2x3x8x9xf32>, tensor<4x5xf32>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @max_roi_pool_c4(%x: tensor<0x3x8x9xf32>, %rois: tensor<4x5xf32>) {
  // expected-error @+1 {{'dl.max_roi_pool' op c4: x is tensor<0x3x8x9xf32> but the result has elements}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7, 5>} : (tensor<0x3x8x9xf32>, tensor<4x5xf32>) -> tensor<4x3x7x5xf32>
  return
}

// -----

func.func @max_roi_pool_t1(%x: tensor<2x3x8x9xi32>, %rois: tensor<4x5xi32>) {
  // expected-error @+1 {{'dl.max_roi_pool' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.max_roi_pool"(%x, %rois) {size = array<i64: 7, 5>} : (tensor<2x3x8x9xi32>, tensor<4x5xi32>) -> tensor<4x3x7x5xi32>
  return
}
