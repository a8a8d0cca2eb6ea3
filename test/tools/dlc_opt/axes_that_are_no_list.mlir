// RUN: not dlc-opt %s 2>&1 | filecheck %s
// RUN: sed 's/=array.*1./= [1]/' %s | dlc-opt - | filecheck %s --check-prefix=FITS
// The parser of these ops takes what is no list of numbers for a null pointer.

// CHECK: axes_that_are_no_list.mlir:8:76: error: 'dimensions' takes a list of numbers like [0, 1]
// FITS: linalg.broadcast
func.func @f(%x: tensor<4xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.broadcast ins(%x : tensor<4xf32>) outs(%y : tensor<4x2xf32>) dimensions =array<i64: 1>
  return %0 : tensor<4x2xf32>
}
