// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-dl-to-linalg | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --convert-dl-to-linalg | filecheck %s --check-prefix=CPU
// Keys lie as they are for kernels of a GPU, which take f16, bf16 and f32; else they are transposed where many queries read them.

// CHECK-LABEL: func.func @halves
// CHECK-NOT: linalg.transpose
// CHECK: math.exp
// CPU-LABEL: func.func @halves
// CPU: linalg.transpose
func.func @halves(%q: tensor<1x2x256x32xf16>, %k: tensor<1x2x256x32xf16>) -> tensor<1x2x256x32xf16> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x256x32xf16>, tensor<1x2x256x32xf16>, tensor<1x2x256x32xf16>) -> tensor<1x2x256x32xf16>
  return %0 : tensor<1x2x256x32xf16>
}

// CHECK-LABEL: func.func @exact
// CHECK-NOT: linalg.transpose
// CHECK: math.exp
// CPU-LABEL: func.func @exact
// CPU: linalg.transpose
func.func @exact(%q: tensor<1x2x256x32xf32>, %k: tensor<1x2x256x32xf32>) -> tensor<1x2x256x32xf32> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x256x32xf32>, tensor<1x2x256x32xf32>, tensor<1x2x256x32xf32>) -> tensor<1x2x256x32xf32>
  return %0 : tensor<1x2x256x32xf32>
}

// CHECK-LABEL: func.func @double
// CHECK: linalg.transpose
// CPU-LABEL: func.func @double
// CPU: linalg.transpose
func.func @double(%q: tensor<1x2x256x32xf64>, %k: tensor<1x2x256x32xf64>) -> tensor<1x2x256x32xf64> {
  %0 = "dl.attention"(%q, %k, %k) : (tensor<1x2x256x32xf64>, tensor<1x2x256x32xf64>, tensor<1x2x256x32xf64>) -> tensor<1x2x256x32xf64>
  return %0 : tensor<1x2x256x32xf64>
}
