// RUN: dlc-opt %s --dl-fold-shapes | filecheck %s
// Products of sizes have symbols: rows that were joined are parted again without their sizes.

// CHECK-LABEL: func.func @part_joined_rows
// CHECK: %[[ROWS:.*]] = "dl.reshape"(%arg0) {{.*}} -> tensor<?x8xf32>
// CHECK: %[[Y:.*]] = "dl.matmul"(%[[ROWS]], %arg1)
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%[[Y]]) {{{.*}}shape = array<i64: -1, 128, 6>} : (tensor<?x6xf32>) -> tensor<?x128x6xf32>
// CHECK-NEXT: return %[[R]]
func.func @part_joined_rows(%x: tensor<?x128x8xf32> {dl.dims = ["batch", "", ""]}, %w: tensor<8x6xf32>) -> tensor<?x128x6xf32> {
  %n = "dl.shape_of"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x128x8xf32>) -> tensor<1xi64>
  %c = "dl.constant"() {value = dense<[128, 6]> : tensor<2xi64>} : () -> tensor<2xi64>
  %s = "dl.concat"(%n, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %rows = "dl.reshape"(%x) {shape = array<i64: -1, 8>} : (tensor<?x128x8xf32>) -> tensor<?x8xf32>
  %y = "dl.matmul"(%rows, %w) : (tensor<?x8xf32>, tensor<8x6xf32>) -> tensor<?x6xf32>
  %r = "dl.reshape"(%y, %s) {shape = array<i64: -1, -1, -1>} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x128x6xf32>
  return %r : tensor<?x128x6xf32>
}

// no-match: the rows are those of another tensor, which run time has to compare.
// CHECK-LABEL: func.func @other_rows
// CHECK: "dl.concat"
// CHECK: "dl.reshape"(%arg1, %{{.*}}) {shape = array<i64: -1, 128, 6>}
func.func @other_rows(%x: tensor<?x128x8xf32> {dl.dims = ["batch", "", ""]}, %y: tensor<?x6xf32> {dl.dims = ["rows", ""]}) -> tensor<?x128x6xf32> {
  %n = "dl.shape_of"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x128x8xf32>) -> tensor<1xi64>
  %c = "dl.constant"() {value = dense<[128, 6]> : tensor<2xi64>} : () -> tensor<2xi64>
  %s = "dl.concat"(%n, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %r = "dl.reshape"(%y, %s) {shape = array<i64: -1, -1, -1>} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x128x6xf32>
  return %r : tensor<?x128x6xf32>
}

// no-match: as many elements with two open sizes, of which the op infers one.
// CHECK-LABEL: func.func @two_open_sizes
// CHECK: "dl.reshape"(%{{.*}}, %{{.*}}) {shape = array<i64: -1, -1, 8>
func.func @two_open_sizes(%x: tensor<?x?x8xf32> {dl.dims = ["batch", "seq", ""]}) -> tensor<?x?x8xf32> {
  %s = "dl.shape_of"(%x) {start = 0 : i64, end = 3 : i64} : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %rows = "dl.reshape"(%x) {shape = array<i64: -1, 8>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %r = "dl.reshape"(%rows, %s) {shape = array<i64: -1, -1, -1>} : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}
