// RUN: dlc-opt %s --dl-fuse-quantization | filecheck %s
// RUN: dlc-opt %s --dl-fuse-quantization --dl-fuse-quantization | filecheck %s
// Bytes are moved, looked up and compared before they become floats. The pass refuses nothing.

// A matrix that is transposed takes its scales along; a table of bytes is looked up before they are floats.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[FOUND:.*]] = "dl.gather"(%{{.*}}, %arg0) : (tensor<9x8xi8>, tensor<5xi64>) -> tensor<5x8xi8>
// CHECK: %[[SCALE:.*]] = "dl.transpose"(%{{.*}}) {perm = array<i64: 1, 0>} : (tensor<6x1xf32>) -> tensor<1x6xf32>
// CHECK: %[[COLUMNS:.*]] = "dl.reshape"(%[[SCALE]]) {shape = array<i64: 6>}
// CHECK: %[[ROWS:.*]] = "dl.cast"(%[[FOUND]]) {to = i32}
// CHECK: "dl.matmul"(%[[ROWS]], %{{.*}}) : (tensor<5x8xi32>, tensor<8x6xi32>) -> tensor<5x6xi32>
// CHECK: "dl.mul"(%{{.*}}, %[[COLUMNS]])
func.func @rows(%i: tensor<5xi64>) -> tensor<5x6xf32> {
  %table = "dl.param"() {key = "table", shape = array<i64: 9, 8>, dtype = i8} : () -> tensor<9x8xi8>
  %w = "dl.param"() {key = "w", shape = array<i64: 6, 8>, dtype = i8} : () -> tensor<6x8xi8>
  %s = "dl.param"() {key = "s", shape = array<i64: 6, 1>, dtype = f32} : () -> tensor<6x1xf32>
  %0 = "dl.cast"(%table) {to = f32} : (tensor<9x8xi8>) -> tensor<9x8xf32>
  %1 = "dl.gather"(%0, %i) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<5xi64>) -> tensor<5x8xf32>
  %2 = "dl.cast"(%w) {to = f32} : (tensor<6x8xi8>) -> tensor<6x8xf32>
  %3 = "dl.mul"(%2, %s) : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %4 = "dl.transpose"(%3) {perm = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %5 = "dl.matmul"(%1, %4) : (tensor<5x8xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>
  return %5 : tensor<5x6xf32>
}

// Maxima of bytes, which are not rounded again; what is joined is rounded before.
// CHECK-LABEL: func.func @moved(
// CHECK: %[[POOLED:.*]] = "dl.max_pool"(%arg0) {{.*}} : (tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8>
// CHECK: %[[OTHER:.*]] = "dl.cast"(%{{.*}}) {to = ui8} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xui8>
// CHECK: %[[JOINED:.*]] = "dl.concat"(%[[POOLED]], %[[OTHER]]) {axis = 1 : i64} : (tensor<1x2x2x2xui8>
// CHECK: %[[TURNED:.*]] = "dl.transpose"(%[[JOINED]])
// CHECK: return %[[TURNED]]
func.func @moved(%x: tensor<1x2x4x4xui8>, %y: tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xui8> {
  %s = "dl.constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.cast"(%x) {to = f32} : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = "dl.mul"(%0, %s) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = "dl.max_pool"(%1) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %3 = "dl.concat"(%2, %y) {axis = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  %4 = "dl.transpose"(%3) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x4xf32>
  %5 = "dl.div"(%4, %s) : (tensor<1x2x2x4xf32>, tensor<f32>) -> tensor<1x2x2x4xf32>
  %6 = "dl.round"(%5) : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %7 = "dl.cast"(%6) {to = ui8} : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xui8>
  return %7 : tensor<1x2x2x4xui8>
}

// no-match: scales of channels, and minima, of which floats are chosen.
// CHECK-LABEL: func.func @floats(
// CHECK: "dl.reshape"(%{{.*}}) {{.*}} : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK: "dl.max_pool"(%{{.*}}) {{.*}} : (tensor<1x3x4xf32>) -> tensor<1x3x2xf32>
func.func @floats(%x: tensor<3x4xi8>, %y: tensor<1x3x4xi8>) -> (tensor<12xf32>, tensor<1x3x2xf32>) {
  %s = "dl.param"() {key = "s", shape = array<i64: 3, 1>, dtype = f32} : () -> tensor<3x1xf32>
  %t = "dl.constant"() {value = dense<-0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.cast"(%x) {to = f32} : (tensor<3x4xi8>) -> tensor<3x4xf32>
  %1 = "dl.mul"(%0, %s) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = "dl.reshape"(%1) {shape = array<i64: 12>} : (tensor<3x4xf32>) -> tensor<12xf32>
  %3 = "dl.cast"(%y) {to = f32} : (tensor<1x3x4xi8>) -> tensor<1x3x4xf32>
  %4 = "dl.mul"(%3, %t) : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  %5 = "dl.max_pool"(%4) {kernel = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x3x4xf32>) -> tensor<1x3x2xf32>
  return %2, %5 : tensor<12xf32>, tensor<1x3x2xf32>
}

// no-match: numbers that are not finite have no order, and 0 / 0 is no byte.
// CHECK-LABEL: func.func @scales(
// CHECK: "dl.max_pool"(%{{.*}}) {{.*}} : (tensor<1x3x4xf32>) -> tensor<1x3x2xf32>
// CHECK: %[[BYTES:.*]] = "dl.cast"(%{{.*}}) {to = ui8} : (tensor<3x4xf32>) -> tensor<3x4xui8>
// CHECK: return %{{.*}}, %[[BYTES]]
func.func @scales(%x: tensor<1x3x4xi8>, %y: tensor<3x4xui8>) -> (tensor<1x3x2xf32>, tensor<3x4xui8>) {
  %s = "dl.constant"() {value = dense<0x7F800000> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.cast"(%x) {to = f32} : (tensor<1x3x4xi8>) -> tensor<1x3x4xf32>
  %1 = "dl.mul"(%0, %s) : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  %2 = "dl.max_pool"(%1) {kernel = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x3x4xf32>) -> tensor<1x3x2xf32>
  %3 = "dl.cast"(%y) {to = f32} : (tensor<3x4xui8>) -> tensor<3x4xf32>
  %4 = "dl.mul"(%3, %t) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %5 = "dl.div"(%4, %t) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %6 = "dl.round"(%5) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %7 = "dl.cast"(%6) {to = ui8} : (tensor<3x4xf32>) -> tensor<3x4xui8>
  return %2, %7 : tensor<1x3x2xf32>, tensor<3x4xui8>
}
