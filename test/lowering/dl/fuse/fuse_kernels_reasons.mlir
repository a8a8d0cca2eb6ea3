// RUN: dlc-opt %s --dl-fuse-kernels=explain=true | filecheck %s
// Why ops stay apart, on the op that takes the value.

// CHECK-LABEL: func.func @uses
// CHECK: "dl.relu"(%{{.*}}) {dl.apart = ["dl.matmul: uses"]}
// CHECK: "dl.matmul"(%{{.*}}) {dl.apart = ["dl.matmul: main"]}
func.func @uses(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "dl.matmul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "dl.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "dl.matmul"(%0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @output
// CHECK: "dl.relu"(%{{.*}}) {dl.apart = ["dl.matmul: output"]}
func.func @output(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "dl.matmul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "dl.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @types
// CHECK: "dl.cast"(%{{.*}}) {dl.apart = ["dl.exp: types"], to = f16}
func.func @types(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf16>) {
  %0 = "dl.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "dl.cast"(%0) {to = f16} : (tensor<4x8xf32>) -> tensor<4x8xf16>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf16>
}

// Rows of one softmax are columns of the other; a view changes the loops; a vector is repeated.
// CHECK-LABEL: func.func @shape
// CHECK: "dl.softmax"(%{{.*}}) {axis = 0 : i64, dl.apart = ["dl.softmax: shape"]}
// CHECK: "dl.exp"(%{{.*}}) {dl.apart = ["dl.softmax: shape"]}
// CHECK: "dl.add"(%{{.*}}) {dl.apart = ["dl.exp: shape", "dl.neg: shape"]}
func.func @shape(%x: tensor<4x8xf32>, %v: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = "dl.softmax"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "dl.softmax"(%0) {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "dl.reshape"(%1) {shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %3 = "dl.exp"(%2) : (tensor<32xf32>) -> tensor<32xf32>
  %4 = "dl.reshape"(%3) {shape = array<i64: 8, 4>} : (tensor<32xf32>) -> tensor<8x4xf32>
  %5 = "dl.neg"(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = "dl.add"(%4, %5) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @class
// CHECK: "dl.cumsum"(%{{.*}}) {axis = 1 : i64, dl.apart = ["dl.exp: class"]}
// CHECK: "dl.reduce_sum"(%{{.*}}) {dl.apart = ["dl.cumsum: class"]}
func.func @class(%x: tensor<4x8xf32>) -> tensor<f32> {
  %0 = "dl.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "dl.cumsum"(%0) {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "dl.reduce_sum"(%1) : (tensor<4x8xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @cost
// CHECK: "dl.matmul"(%{{.*}}) {dl.apart = ["dl.tanh: cost"]}
// CHECK: "dl.max_pool"(%{{.*}}) {dl.apart = ["dl.tanh: cost"], kernel = array<i64: 2, 2>}
// CHECK: "dl.slice"(%{{.*}}) {axes = array<i64: 0>, dl.apart = ["dl.exp: cost"]
func.func @cost(%x: tensor<4x4xf32>, %i: tensor<1x1x4x4xf32>) -> (tensor<4x4xf32>, tensor<1x1x3x3xf32>, tensor<2x4xf32>) {
  %0 = "dl.tanh"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "dl.matmul"(%0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "dl.tanh"(%i) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = "dl.max_pool"(%2) {kernel = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32>
  %4 = "dl.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "dl.slice"(%4) {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return %1, %3, %5 : tensor<4x4xf32>, tensor<1x1x3x3xf32>, tensor<2x4xf32>
}

// The product lies between the sum and the difference.
// CHECK-LABEL: func.func @legality
// CHECK: "dl.sub"(%{{.*}}, %{{.*}}) {dl.apart = ["dl.exp: legality"]}
func.func @legality(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "dl.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "dl.matmul"(%0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "dl.cumsum"(%1) {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "dl.neg"(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "dl.sub"(%0, %3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @foreign
// CHECK: "dl.exp"(%{{.*}}) {dl.apart = ["func.call: foreign"]}
func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dl.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
