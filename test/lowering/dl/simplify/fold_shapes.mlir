// RUN: dlc-opt %s --dl-fold-shapes --split-input-file --verify-diagnostics | filecheck %s
// Shapes that are computed from shapes become attributes; what computed them goes.

// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%arg0) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 3, 4>} : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = "dl.transpose"(%[[R]]) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x4xf32>) -> tensor<?x?x?x?xf32>
// CHECK-NEXT: return %[[T]]
func.func @heads(%x: tensor<?x?x12xf32> {dl.dims = ["batch", "length", ""]}) -> tensor<?x?x?x?xf32> {
  %zero = "dl.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %rest = "dl.constant"() {value = dense<[3, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %shape = "dl.shape_of"(%x) : (tensor<?x?x12xf32>) -> tensor<3xi64>
  %batch = "dl.gather"(%shape, %zero) : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %first = "dl.unsqueeze"(%batch) {axes = array<i64: 0>} : (tensor<i64>) -> tensor<1xi64>
  %length = "dl.slice"(%shape) {starts = array<i64: 1>, ends = array<i64: 2>, axes = array<i64: 0>, steps = array<i64: 1>}
      : (tensor<3xi64>) -> tensor<1xi64>
  %two = "dl.concat"(%first, %length) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %sizes = "dl.concat"(%two, %rest) {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %y = "dl.reshape"(%x, %sizes) {shape = array<i64: -1, -1, -1, -1>} : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %t = "dl.transpose"(%y) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %t : tensor<?x?x?x?xf32>
}

// -----

// The dim of another tensor with the same name is a dim of this one, and -1 is left over.

// CHECK-LABEL: func.func @dim_of_another_tensor(
// CHECK-NEXT: "dl.reshape"(%arg1) {copied = array<i64: 0, -1>, shape = array<i64: -1, -1>} : (tensor<?x3x4xf32>) -> tensor<?x?xf32>
func.func @dim_of_another_tensor(
    %ids: tensor<?xi64> {dl.dims = ["batch"]}, %x: tensor<?x3x4xf32> {dl.dims = ["batch", "", ""]}) -> tensor<?x?xf32> {
  %minus = "dl.constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %batch = "dl.shape_of"(%ids) : (tensor<?xi64>) -> tensor<1xi64>
  %sizes = "dl.concat"(%batch, %minus) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = "dl.reshape"(%x, %sizes) {shape = array<i64: -1, -1>} : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// An expand keeps x's own dim and reads the one that another tensor has; torch's -1 is resolved on the way.

// CHECK-LABEL: func.func @expand(
// CHECK: "dl.expand"(%arg0, %{{.*}}) {shape = array<i64: 1, -1, 8>} : (tensor<?x1x1xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
func.func @expand(%x: tensor<?x1x1xf32>, %y: tensor<?xf32>) -> tensor<?x?x8xf32> {
  %eight = "dl.constant"() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %own = "dl.shape_of"(%x) {end = 1 : i64} : (tensor<?x1x1xf32>) -> tensor<1xi64>
  %other = "dl.shape_of"(%y) : (tensor<?xf32>) -> tensor<1xi64>
  %two = "dl.concat"(%own, %other) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %sizes = "dl.concat"(%two, %eight) {axis = 0} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = "dl.expand"(%x, %sizes) {shape = array<i64: -1, -1, -1>} : (tensor<?x1x1xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// Bounds that turn out static become attributes, and the dims that follow stand in the types.

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: %[[S:.*]] = "dl.slice"(%arg0) {axes = array<i64: 1>, ends = array<i64: 6>, starts = array<i64: 2>, steps = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: "dl.relu"(%[[S]]) : (tensor<?x4xf32>) -> tensor<?x?xf32>
func.func @slice(%x: tensor<?x8xf32>) -> tensor<?x?xf32> {
  %two = "dl.constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %width = "dl.shape_of"(%x) {start = 1 : i64} : (tensor<?x8xf32>) -> tensor<1xi64>
  %end = "dl.sub"(%width, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %bounds = "dl.concat"(%two, %end) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %s = "dl.slice"(%x, %bounds) {axes = array<i64: 1>, steps = array<i64: 1>} : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = "dl.relu"(%s) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// no-match: sizes that are an input stay an operand. The pass refuses nothing.

// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT: "dl.reshape"(%arg0, %arg1) {shape = array<i64: -1, -1>} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
func.func @unknown(%x: tensor<?x4xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = "dl.reshape"(%x, %sizes) {shape = array<i64: -1, -1>} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// no-match: elements that are all known stay computed where the function's type leaves their number open.

// CHECK-LABEL: func.func @open_result(
// CHECK: "dl.add"
func.func @open_result(%x: tensor<4x3xf32>) -> tensor<?xi64> {
  %s = "dl.shape_of"(%x) : (tensor<4x3xf32>) -> tensor<2xi64>
  %0 = "dl.add"(%s, %s) : (tensor<2xi64>, tensor<2xi64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// Counts, sizes and depths that are known become attributes, and axes that keep their size are not resized.

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT: "dl.pad"(%arg0, %arg1) {high = array<i64: 2, -1>, low = array<i64: 0, 1>}
func.func @pad(%x: tensor<?x3xf32>, %v: tensor<f32>) -> tensor<?x?xf32> {
  %c = "dl.constant"() {value = dense<[0, 1, 2, -1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = "dl.dynamic_pad"(%x, %c, %v) : (tensor<?x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @resize(
// CHECK: %[[LIST:.*]] = "dl.concat"
// CHECK: %[[LAST:.*]] = "dl.constant"() {value = dense<[2, 3]>
// CHECK: %[[SIZES:.*]] = "dl.gather"(%[[LIST]], %[[LAST]])
// CHECK: "dl.dynamic_resize"(%arg0, %[[SIZES]]) {axes = array<i64: 2, 3>, mode = "linear"}
// CHECK: "dl.resize"(%arg0) {axes = array<i64: 2, 3>, mode = "linear", sizes = array<i64: 5, 6>}
func.func @resize(%x: tensor<?x3x?x?xf32>, %v: tensor<2xi64>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %s = "dl.shape_of"(%x) {end = 2 : i64} : (tensor<?x3x?x?xf32>) -> tensor<2xi64>
  %t = "dl.concat"(%s, %v) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = "dl.dynamic_resize"(%x, %t) {axes = array<i64: 0, 1, 2, 3>, mode = "linear"} : (tensor<?x3x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %c = "dl.constant"() {value = dense<[5, 6]> : tensor<2xi64>} : () -> tensor<2xi64>
  %u = "dl.concat"(%s, %c) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %1 = "dl.dynamic_resize"(%x, %u) {axes = array<i64: 0, 1, 2, 3>, mode = "linear"} : (tensor<?x3x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %0, %1 : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @one_hot(
// CHECK: "dl.one_hot"(%arg0, %arg1) {depth = 7 : i64}
// CHECK: %[[SIZE:.*]] = "dl.gather"
// CHECK: "dl.one_hot"(%arg0, %arg1, %[[SIZE]])
func.func @one_hot(%x: tensor<5xi64>, %v: tensor<2xf32>, %w: tensor<?x7xf32>) -> (tensor<5x?xf32>, tensor<5x?xf32>) {
  %s = "dl.shape_of"(%w) : (tensor<?x7xf32>) -> tensor<2xi64>
  %i = "dl.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %d = "dl.gather"(%s, %i) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %0 = "dl.one_hot"(%x, %v, %d) : (tensor<5xi64>, tensor<2xf32>, tensor<i64>) -> tensor<5x?xf32>
  %j = "dl.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %e = "dl.gather"(%s, %j) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %1 = "dl.one_hot"(%x, %v, %e) : (tensor<5xi64>, tensor<2xf32>, tensor<i64>) -> tensor<5x?xf32>
  return %0, %1 : tensor<5x?xf32>, tensor<5x?xf32>
}

// Integers wrap as their type does, on the way, too.

// CHECK-LABEL: func.func @wrapped(
// CHECK-DAG: %[[LEAST:.*]] = "dl.constant"() {value = dense<-9223372036854775808> : tensor<1xi64>}
// CHECK-DAG: %[[LOW:.*]] = "dl.constant"() {value = dense<1> : tensor<1xi64>}
// CHECK: return %[[LEAST]], %[[LOW]]
func.func @wrapped() -> (tensor<1xi64>, tensor<1xi64>) {
  %most = "dl.constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "dl.constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %sum = "dl.add"(%most, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %wide = "dl.constant"() {value = dense<4294967297> : tensor<1xi64>} : () -> tensor<1xi64>
  %low = "dl.cast"(%wide) {to = i32} : (tensor<1xi64>) -> tensor<1xi32>
  %back = "dl.cast"(%low) {to = i64} : (tensor<1xi32>) -> tensor<1xi64>
  return %sum, %back : tensor<1xi64>, tensor<1xi64>
}

// Numbers that are no sizes, or do not fit the result, stay operands: run time refuses them.

// CHECK-LABEL: func.func @no_sizes(
// CHECK: "dl.expand"(%arg0, %{{.*}}) {shape = array<i64: -1, 1>} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
// CHECK: "dl.reshape"(%arg1, %{{.*}}) {shape = array<i64: -1, 3>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
// CHECK: "dl.reshape"(%arg1, %{{.*}}) {shape = array<i64: -1, -1>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
func.func @no_sizes(%x: tensor<1x3xf32>, %y: tensor<?x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x3xf32>) {
  %s = "dl.constant"() {value = dense<[-3, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "dl.expand"(%x, %s) {shape = array<i64: -1, -1>} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "dl.relu"(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = "dl.constant"() {value = dense<[-5, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %2 = "dl.reshape"(%y, %t) {shape = array<i64: -1, -1>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = "dl.relu"(%2) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %u = "dl.constant"() {value = dense<[5, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %4 = "dl.reshape"(%y, %u) {shape = array<i64: -1, -1>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  return %1, %3, %4 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @more_than_memory(
// CHECK: "dl.range"(%{{.*}}) : {{.*}} -> tensor<?xi64>
// CHECK: "dl.one_hot"(%arg0, %arg1, %{{.*}}) : {{.*}} -> tensor<3x?xf32>
func.func @more_than_memory(%x: tensor<3xi64>, %v: tensor<2xf32>) -> (tensor<?xi64>, tensor<3x?xf32>) {
  %zero = "dl.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "dl.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %most = "dl.constant"() {value = dense<4611686018427387904> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.range"(%zero, %most, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %1 = "dl.neg"(%0) : (tensor<?xi64>) -> tensor<?xi64>
  %2 = "dl.one_hot"(%x, %v, %most) : (tensor<3xi64>, tensor<2xf32>, tensor<i64>) -> tensor<3x?xf32>
  return %1, %2 : tensor<?xi64>, tensor<3x?xf32>
}
