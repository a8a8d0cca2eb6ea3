// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_80 --dl-to-linalg --linalg-to-affine --affine-outline-checks --convert-attention-to-mma | filecheck %s
// Attention that is no single kernel stays as it is, and says why; a plain softmax is none.

// CHECK: func.func private @{{.*}}attention{{.*}}dlc.not_fused = "elements are f64; kernels of attention multiply f16, bf16 or f32 alone"
// CHECK-NOT: gpu.launch
// CHECK: math.exp
func.func @double(%q: tensor<2x4x512x64xf64>, %k: tensor<2x4x512x64xf64>, %v: tensor<2x4x512x64xf64>) -> tensor<2x4x512x64xf64> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<2x4x512x64xf64>, tensor<2x4x512x64xf64>, tensor<2x4x512x64xf64>) -> tensor<2x4x512x64xf64>
  return %0 : tensor<2x4x512x64xf64>
}

// -----

// CHECK: dlc.not_fused = "no tile for heads of 320 and 320 elements fits registers and shared memory, by copies of 4 bytes or more"
func.func @long(%q: tensor<2x4x512x320xf16>, %k: tensor<2x4x512x320xf16>, %v: tensor<2x4x512x320xf16>) -> tensor<2x4x512x320xf16> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<2x4x512x320xf16>, tensor<2x4x512x320xf16>, tensor<2x4x512x320xf16>) -> tensor<2x4x512x320xf16>
  return %0 : tensor<2x4x512x320xf16>
}

// -----

// Elements of one row begin at odd places.
// CHECK: dlc.not_fused = "no tile for heads of 33 and 33 elements fits registers and shared memory, by copies of 4 bytes or more"
func.func @odd(%q: tensor<2x4x512x33xf16>, %k: tensor<2x4x512x33xf16>, %v: tensor<2x4x512x33xf16>) -> tensor<2x4x512x33xf16> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<2x4x512x33xf16>, tensor<2x4x512x33xf16>, tensor<2x4x512x33xf16>) -> tensor<2x4x512x33xf16>
  return %0 : tensor<2x4x512x33xf16>
}

// -----

// CHECK: dlc.not_fused = "scores are not made, or not used, by sums of products of static sizes in memory without gaps"
func.func @dynamic(%q: tensor<2x4x?x64xbf16>, %k: tensor<2x4x?x64xbf16>, %v: tensor<2x4x?x64xbf16>) -> tensor<2x4x?x64xbf16> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>) -> tensor<2x4x?x64xbf16>
  return %0 : tensor<2x4x?x64xbf16>
}

// -----

// One query for all keys is a kernel, which needs no tensor cores.
// CHECK-NOT: dlc.not_fused
// CHECK: gpu.launch_func
func.func @one_query(%q: tensor<2x4x1x64xf16>, %k: tensor<2x4x512x64xf16>, %v: tensor<2x4x512x64xf16>) -> tensor<2x4x1x64xf16> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<2x4x1x64xf16>, tensor<2x4x512x64xf16>, tensor<2x4x512x64xf16>) -> tensor<2x4x1x64xf16>
  return %0 : tensor<2x4x1x64xf16>
}

// -----

// no-match: softmax of what an argument holds.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: dlc.not_fused
// CHECK: math.exp
func.func @softmax(%x: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = "dl.softmax"(%x) : (tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
