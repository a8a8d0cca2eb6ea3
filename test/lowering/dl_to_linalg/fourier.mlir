// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize | filecheck %s
// A stage is a generic that reads all parts of a butterfly and chooses the result that it writes.

// 6 points are stages of 2 and 3; only the first one turns its results.
// CHECK-LABEL: func.func @fft(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x6x1xf32>, %[[W:.*]]: tensor<2x5xf32>
// CHECK: %[[FACTORS:.*]] = tensor.extract_slice %[[W]][0, 0] [2, 3] [1, 1]
// CHECK: %[[TURNS:.*]] = tensor.expand_shape %[[FACTORS]] {{.*}} into tensor<2x1x3xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[TURNS]], %[[TURNS]] : {{.*}}) outs(%{{.*}} : tensor<1x2x2x1x3xf32>)
// CHECK: arith.mulf
// CHECK: linalg.index 2
// CHECK: linalg.index 1
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x1x3x2xf32>)
// CHECK-NOT: fastmath
func.func @fft(%x: tensor<1x2x6x1xf32>, %w: tensor<2x5xf32>) -> tensor<1x2x6x1xf32> {
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x6x1xf32>, tensor<2x5xf32>) -> tensor<1x2x6x1xf32>
  return %0 : tensor<1x2x6x1xf32>
}

// Frequency k of the reals takes frequencies k and 2 - k of their pairs; number 0 is repeated behind the last.
// CHECK-LABEL: func.func @rfft(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 0] [1, 2, 2, 5] [1, 1, 1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 2, 0] [1, 2, 1, 5] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x3x5xf32>)
func.func @rfft(%x: tensor<1x4x5xf32>, %w: tensor<2x4xf32>) -> tensor<1x2x3x5xf32> {
  %0 = "dl.rfft"(%x, %w) : (tensor<1x4x5xf32>, tensor<2x4xf32>) -> tensor<1x2x3x5xf32>
  return %0 : tensor<1x2x3x5xf32>
}

// Back: imaginary parts of numbers 0 and 2 count as 0.
// CHECK-LABEL: func.func @irfft(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x2x5xf32>)
// CHECK: %[[END:.*]] = arith.cmpf oeq
// CHECK-COUNT-2: arith.select %[[END]]
func.func @irfft(%x: tensor<1x2x3x5xf32>, %w: tensor<2x4xf32>) -> tensor<1x4x5xf32> {
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x3x5xf32>, tensor<2x4xf32>) -> tensor<1x4x5xf32>
  return %0 : tensor<1x4x5xf32>
}
