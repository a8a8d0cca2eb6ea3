// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Transforms of complex numbers, of reals and back; an attribute that has its default is not printed.

// CHECK-LABEL: func.func @fft
// CHECK: %[[Y:.*]] = "dl.fft"(%arg0, %arg1) : (tensor<?x2x12x3xf32>, tensor<2x11xf32>) -> tensor<?x2x12x3xf32>
// CHECK: "dl.fft"(%[[Y]], %arg1) {inverse = true} : (tensor<?x2x12x3xf32>, tensor<2x11xf32>) -> tensor<?x2x12x3xf32>
func.func @fft(%x: tensor<?x2x12x3xf32>, %w: tensor<2x11xf32>) -> tensor<?x2x12x3xf32> {
  %0 = "dl.fft"(%x, %w) : (tensor<?x2x12x3xf32>, tensor<2x11xf32>) -> tensor<?x2x12x3xf32>
  %1 = "dl.fft"(%0, %w) {inverse = true} : (tensor<?x2x12x3xf32>, tensor<2x11xf32>) -> tensor<?x2x12x3xf32>
  return %1 : tensor<?x2x12x3xf32>
}

// CHECK-LABEL: func.func @reals
// CHECK: %[[Y:.*]] = "dl.rfft"(%arg0, %arg1) : (tensor<2x16x?xf64>, tensor<2x16xf64>) -> tensor<2x2x9x?xf64>
// CHECK: "dl.irfft"(%[[Y]], %arg1) : (tensor<2x2x9x?xf64>, tensor<2x16xf64>) -> tensor<2x16x?xf64>
func.func @reals(%x: tensor<2x16x?xf64>, %w: tensor<2x16xf64>) -> tensor<2x16x?xf64> {
  %0 = "dl.rfft"(%x, %w) : (tensor<2x16x?xf64>, tensor<2x16xf64>) -> tensor<2x2x9x?xf64>
  %1 = "dl.irfft"(%0, %w) : (tensor<2x2x9x?xf64>, tensor<2x16xf64>) -> tensor<2x16x?xf64>
  return %1 : tensor<2x16x?xf64>
}
