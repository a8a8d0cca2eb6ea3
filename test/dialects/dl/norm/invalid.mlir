// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of normalisations.

func.func @softmax_t1(%arg0: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.softmax' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.softmax"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @softmax_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.softmax' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.softmax"(%arg0) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @log_softmax_t1(%arg0: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.log_softmax' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.log_softmax"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @log_softmax_c1(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.log_softmax' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.log_softmax"(%arg0) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_t1(
    %arg0: tensor<2x3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>, %arg3: tensor<3xi32>, %arg4: tensor<3xi32>
) {
  // expected-error @+1 {{'dl.batch_norm' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @batch_norm_c1(
    %arg0: tensor<2x3xf16>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>
) {
  // expected-error @+1 {{'dl.batch_norm' op c1: expects one element type but x is f16, scale is f32, bias is f32, mean is f32, var is f32}}
  %0 = "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<2x3xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @batch_norm_c2(
    %arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>
) {
  // expected-error @+1 {{'dl.batch_norm' op c2: x has rank 1}}
  %0 = "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c3(
    %arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>
) {
  // expected-error @+1 {{'dl.batch_norm' op c3: bias dim 0 is 4 but the matching dim of x is 3}}
  %0 = "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_t1(%arg0: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.layer_norm' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.layer_norm"(%arg0) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @layer_norm_c1(%arg0: tensor<2x3xf16>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.layer_norm' op c1: expects one element type but x is f16, scale is f32}}
  %0 = "dl.layer_norm"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3xf16>, tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @layer_norm_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.layer_norm' op c2: axis -3 is out of range for rank 2}}
  %0 = "dl.layer_norm"(%arg0, %arg1) {axis = -3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_c3(%arg0: tensor<2x4x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.layer_norm' op c3: bias has rank 1 but must have 2}}
  %0 = "dl.layer_norm"(%arg0, %arg1) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @rms_norm_t1(%arg0: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.rms_norm' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.rms_norm"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @rms_norm_c1(%arg0: tensor<2x3xf16>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.rms_norm' op c1: expects one element type but x is f16, scale is f32}}
  %0 = "dl.rms_norm"(%arg0, %arg1) : (tensor<2x3xf16>, tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @rms_norm_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.rms_norm' op c2: axis 2 is out of range for rank 2}}
  %0 = "dl.rms_norm"(%arg0, %arg1) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rms_norm_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error @+1 {{'dl.rms_norm' op c3: scale dim 0 is 4 but the matching dim of x is 3}}
  %0 = "dl.rms_norm"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @instance_norm_t1(%arg0: tensor<2x3x4xi32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>) {
  // expected-error @+1 {{'dl.instance_norm' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3x4xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3x4xi32>
  return
}

// -----

func.func @instance_norm_c1(%arg0: tensor<2x3x4xf16>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error @+1 {{'dl.instance_norm' op c1: expects one element type but x is f16, scale is f32, bias is f32}}
  %0 = "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3x4xf16>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf16>
  return
}

// -----

func.func @instance_norm_c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error @+1 {{'dl.instance_norm' op c2: x has rank 2}}
  %0 = "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @instance_norm_c3(%arg0: tensor<2x3x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>) {
  // expected-error @+1 {{'dl.instance_norm' op c3: bias dim 0 is 2 but the matching dim of x is 3}}
  %0 = "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @group_norm_t1(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>, %arg2: tensor<4xi32>) {
  // expected-error @+1 {{'dl.group_norm' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 2 : i64} : (tensor<2x4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @group_norm_c1(%arg0: tensor<2x3xf16>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error @+1 {{'dl.group_norm' op c1: expects one element type but x is f16, scale is f32, bias is f32}}
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 3 : i64} : (tensor<2x3xf16>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @group_norm_c2(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error @+1 {{'dl.group_norm' op c2: x has rank 1}}
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 3 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @group_norm_c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>) {
  // expected-error @+1 {{'dl.group_norm' op c3: bias dim 0 is 2 but the matching dim of x is 3}}
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 3 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @group_norm_c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
  // expected-error @+1 {{'dl.group_norm' op c4: x dim 1 is 3, not a multiple of num_groups 2}}
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @lrn_t1(%arg0: tensor<2x3xi32>) {
  // expected-error @+1 {{'dl.lrn' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.lrn"(%arg0) {size = 3 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @lrn_c1(%arg0: tensor<3xf32>) {
  // expected-error @+1 {{'dl.lrn' op c1: x has rank 1}}
  %0 = "dl.lrn"(%arg0) {size = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lrn_c2(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.lrn' op c2: size is 0}}
  %0 = "dl.lrn"(%arg0) {size = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @lrn_c3(%arg0: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'dl.lrn' op c3: axis 3 is out of range for rank 3}}
  %0 = "dl.lrn"(%arg0) {axis = 3 : i64, size = 3 : i64} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @lrn_size_of_another_type(%arg0: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'dl.lrn' op attribute 'size' expects an i64 integer but got 3 : index}}
  %0 = "dl.lrn"(%arg0) {size = 3 : index} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @segments_no_list(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'operandSegmentSizes' attribute is expected to be a dense i32 array}}
  %0 = "dl.layer_norm"(%arg0) {operandSegmentSizes = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @segments_without_x(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{element 0 in 'operandSegmentSizes' attribute must be equal to 1}}
  %0 = "dl.layer_norm"(%arg0) {operandSegmentSizes = array<i32: 0, 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @segments_needless(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.rms_norm' op operandSegmentSizes is array<i64: 0, 0, 1, 0> but must be array<i32: 1, 0>; leave it out}}
  %0 = "dl.rms_norm"(%arg0) {operandSegmentSizes = array<i64: 0, 0, 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
