// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Joins write windows of one tensor, slices are windows, and reads at computed positions do what windows can't.

// CHECK-LABEL: func.func @concat_of_three_fills_one_tensor(
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<2x9xf32>
// CHECK-NEXT: %[[A:.*]] = tensor.insert_slice %arg0 into %[[E]][0, 0] [2, 2] [1, 1]
// CHECK-NEXT: %[[B:.*]] = tensor.insert_slice %arg1 into %[[A]][0, 2] [2, 3] [1, 1]
// CHECK-NEXT: %[[C:.*]] = tensor.insert_slice %arg2 into %[[B]][0, 5] [2, 4] [1, 1]
// CHECK-NEXT: return %[[C]]
func.func @concat_of_three_fills_one_tensor(
    %a: tensor<2x2xf32>, %b: tensor<2x3xf32>, %c: tensor<2x4xf32>) -> tensor<2x9xf32> {
  %0 = "dl.concat"(%a, %b) {axis = 1} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %1 = "dl.concat"(%0, %c) {axis = 1} : (tensor<2x5xf32>, tensor<2x4xf32>) -> tensor<2x9xf32>
  return %1 : tensor<2x9xf32>
}

// CHECK-LABEL: func.func @concat_that_is_used_twice_stays(
// CHECK: tensor.empty() : tensor<4xf32>
// CHECK: tensor.empty() : tensor<6xf32>
func.func @concat_that_is_used_twice_stays(%a: tensor<2xf32>) -> (tensor<4xf32>, tensor<6xf32>) {
  %0 = "dl.concat"(%a, %a) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = "dl.concat"(%0, %a) {axis = 0} : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<4xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: tensor.extract_slice %arg0[1, 2] [2, 2] [1, 2] : tensor<5x6xf32> to tensor<2x2xf32>
func.func @slice(%x: tensor<5x6xf32>) -> tensor<2x2xf32> {
  %0 = "dl.slice"(%x) {starts = array<i64: 1, 2>, ends = array<i64: 3, 100>, axes = array<i64: 0, 1>, steps = array<i64: 1, 2>}
      : (tensor<5x6xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @slice_backwards(
// CHECK: linalg.generic
// CHECK: tensor.extract %arg0
func.func @slice_backwards(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "dl.slice"(%x) {starts = array<i64: -1>, ends = array<i64: -100>, axes = array<i64: 0>, steps = array<i64: -1>}
      : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @slice_to_a_bound_of_run_time(
// CHECK: %[[END:.*]] = tensor.extract %arg1
// CHECK: tensor.extract_slice %arg0[0, 0] [%{{.*}}, 4] [1, 1]
func.func @slice_to_a_bound_of_run_time(%x: tensor<?x4xf32>, %end: tensor<1xi64>) -> tensor<?x4xf32> {
  %0 = "dl.slice"(%x, %end) {starts = array<i64: 0>, axes = array<i64: 0>, steps = array<i64: 1>}
      : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK: %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x5xf32>)
// CHECK: tensor.insert_slice %arg0 into %[[F]][1, 0] [%{{.*}}, 3] [1, 1]
func.func @pad(%x: tensor<?x3xf32>) -> tensor<?x5xf32> {
  %0 = "dl.pad"(%x) {low = array<i64: 1, 0>, high = array<i64: 1, 2>} : (tensor<?x3xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// Most of a row lies inside: that piece reads neighbours, the ends at computed positions.
// CHECK-LABEL: func.func @pad_of_long_rows(
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x15xf32>
// CHECK: %[[L:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<3x1xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[L]] into %[[E]][0, 0] [3, 1] [1, 1]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<3x12xf32>)
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK-NEXT: tensor.extract %arg0[%{{.*}}, %[[J]]]
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][0, 1] [3, 12] [1, 1]
// CHECK: tensor.insert_slice %{{.*}}[0, 13] [3, 2] [1, 1]
func.func @pad_of_long_rows(%x: tensor<3x12xf32>) -> tensor<3x15xf32> {
  %0 = "dl.pad"(%x) {low = array<i64: 0, 1>, high = array<i64: 0, 2>, mode = "edge"} : (tensor<3x12xf32>) -> tensor<3x15xf32>
  return %0 : tensor<3x15xf32>
}

// no-match: short rows, of which padding is a large part.
// CHECK-LABEL: func.func @pad_of_short_rows(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @pad_of_short_rows(%x: tensor<3x8xf32>) -> tensor<3x11xf32> {
  %0 = "dl.pad"(%x) {low = array<i64: 0, 1>, high = array<i64: 0, 2>, mode = "edge"} : (tensor<3x8xf32>) -> tensor<3x11xf32>
  return %0 : tensor<3x11xf32>
}

// CHECK-LABEL: func.func @pad_that_crops(
// CHECK-NEXT: tensor.extract_slice %arg0[1] [2] [1]
// CHECK-NEXT: return
func.func @pad_that_crops(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = "dl.pad"(%x) {low = array<i64: -1>, high = array<i64: -1>} : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
