// RUN: dlc-opt %s --dl-canonicalize | filecheck %s
// Slices, concats, pads and gathers in their canonical form; each function is named for the rule that it shows.

// CHECK-LABEL: func.func @drop_slice_of_whole(
// CHECK-NEXT: return %arg0, %arg1
func.func @drop_slice_of_whole(%x: tensor<8x4xf32>, %d: tensor<?x8xf32>) -> (tensor<8x4xf32>, tensor<?x8xf32>) {
  %0 = "dl.slice"(%x) {axes = array<i64: 0, -1>, ends = array<i64: 9, 4>, starts = array<i64: 0, -4>, steps = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.slice"(%d) {axes = array<i64: 0, 1>, ends = array<i64: 9223372036854775807, 8>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<?x8xf32>
}

// no-match: the order turns, and a dim may be greater than the end.
// CHECK-LABEL: func.func @not_slice_of_whole(
// CHECK-COUNT-2: "dl.slice"
func.func @not_slice_of_whole(%x: tensor<8x4xf32>, %d: tensor<?x8xf32>) -> (tensor<8x4xf32>, tensor<?x8xf32>) {
  %0 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: -9>, starts = array<i64: -1>, steps = array<i64: -1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.slice"(%d) {axes = array<i64: 0>, ends = array<i64: 100>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @merge_slices(
// CHECK-NEXT: "dl.slice"(%arg0) {axes = array<i64: 0, 1>, ends = array<i64: 6, 4>, starts = array<i64: 3, 2>, steps = array<i64: 2, 1>}
// CHECK-NEXT: "dl.slice"(%arg0) {axes = array<i64: 0>, ends = array<i64: 0>, starts = array<i64: 5>, steps = array<i64: -2>}
func.func @merge_slices(%x: tensor<8x4xf32>) -> (tensor<2x2xf32>, tensor<3x4xf32>) {
  %0 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 7>, starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %1 = "dl.slice"(%0) {axes = array<i64: 0, 1>, ends = array<i64: 3, 4>, starts = array<i64: 1, 2>, steps = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<2x2xf32>
  %2 = "dl.slice"(%0) {axes = array<i64: 0>, ends = array<i64: -9>, starts = array<i64: -1>, steps = array<i64: -1>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @slice_of_concat(
// CHECK-NEXT: %[[S:.*]] = "dl.slice"(%arg1) {axes = array<i64: 0>, ends = array<i64: 4>, starts = array<i64: 1>, steps = array<i64: 1>}
// CHECK-NEXT: return %arg0, %[[S]]
func.func @slice_of_concat(%x: tensor<2x4xf32>, %y: tensor<6x4xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>) {
  %0 = "dl.concat"(%x, %y) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.slice"(%0) {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %2 = "dl.slice"(%0) {axes = array<i64: 0>, ends = array<i64: 6>, starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<3x4xf32>
}

// no-match: elements of both parts.
// CHECK-LABEL: func.func @not_slice_of_concat(
// CHECK-NEXT: "dl.concat"
func.func @not_slice_of_concat(%x: tensor<2x4xf32>, %y: tensor<6x4xf32>) -> tensor<2x4xf32> {
  %0 = "dl.concat"(%x, %y) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.slice"(%0) {axes = array<i64: 0>, ends = array<i64: 3>, starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @concat_of_slices(
// CHECK-NEXT: return %arg0
func.func @concat_of_slices(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 5>, starts = array<i64: 2>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %2 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 8>, starts = array<i64: 5>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %3 = "dl.concat"(%0, %1) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %4 = "dl.concat"(%3, %2) {axis = 0 : i64} : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// no-match: parts in another order.
// CHECK-LABEL: func.func @not_concat_of_slices(
// CHECK: "dl.concat"
func.func @not_concat_of_slices(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 4>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = "dl.slice"(%x) {axes = array<i64: 0>, ends = array<i64: 8>, starts = array<i64: 4>, steps = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = "dl.concat"(%1, %0) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @drop_empty_part(
// CHECK-NEXT: return %arg0
func.func @drop_empty_part(%x: tensor<8x4xf32>, %e: tensor<0x4xf32>) -> tensor<8x4xf32> {
  %0 = "dl.concat"(%x, %e) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<0x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.concat"(%e, %0) {axis = 0 : i64} : (tensor<0x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @drop_pad_of_nothing(
// CHECK-NEXT: return %arg0
func.func @drop_pad_of_nothing(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = "dl.pad"(%x) {high = array<i64: 0, 0>, low = array<i64: 0, 0>, mode = "edge"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @crop_to_slice(
// CHECK-NEXT: "dl.slice"(%arg0) {axes = array<i64: 0, 1>, ends = array<i64: 7, 3>, starts = array<i64: 1, 0>, steps = array<i64: 1, 1>}
func.func @crop_to_slice(%x: tensor<8x4xf32>) -> tensor<6x3xf32> {
  %0 = "dl.pad"(%x) {high = array<i64: -1, -1>, low = array<i64: -1, 0>} : (tensor<8x4xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// CHECK-LABEL: func.func @merge_pads(
// CHECK-NEXT: "dl.pad"(%arg0) {high = array<i64: 1, 2>, low = array<i64: 1, 0>}
func.func @merge_pads(%x: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %z = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.pad"(%x) {high = array<i64: 0, 1>, low = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x4xf32>
  %1 = "dl.pad"(%0, %z) {high = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<3x4xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// no-match: other numbers.
// CHECK-LABEL: func.func @not_merge_pads(
// CHECK-COUNT-2: "dl.pad"
func.func @not_merge_pads(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %o = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.pad"(%x) {high = array<i64: 0, 0>, low = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  %1 = "dl.pad"(%0, %o) {high = array<i64: 0, 0>, low = array<i64: 1, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @pad_into_window(
// CHECK-NEXT: "dl.conv"(%arg0, %arg1) {pads = array<i64: 1, 0, 1, 1>}
// CHECK-NEXT: "dl.max_pool"(%arg0) {kernel = array<i64: 3, 3>, pads = array<i64: 1, 0, 1, 1>}
// CHECK-NEXT: "dl.avg_pool"(%arg0) {count_include_pad = true, kernel = array<i64: 3, 3>, pads = array<i64: 1, 0, 1, 1>}
func.func @pad_into_window(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4x3xf32>) {
  %m = "dl.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.pad"(%x) {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x5xf32>
  %1 = "dl.pad"(%x, %m) {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x5xf32>
  %2 = "dl.conv"(%0, %w) : (tensor<1x2x6x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x3xf32>
  %3 = "dl.max_pool"(%1) {kernel = array<i64: 3, 3>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x3xf32>
  %4 = "dl.avg_pool"(%0) {kernel = array<i64: 3, 3>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x3xf32>
  return %2, %3, %4 : tensor<1x2x4x3xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4x3xf32>
}

// no-match: channels are padded, and zeros count for a maximum.
// CHECK-LABEL: func.func @not_pad_into_window(
// CHECK-COUNT-2: "dl.pad"
func.func @not_pad_into_window(%x: tensor<1x2x4x4xf32>, %w: tensor<2x3x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x3xf32>) {
  %0 = "dl.pad"(%x) {high = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32>
  %1 = "dl.pad"(%x) {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x5xf32>
  %2 = "dl.conv"(%0, %w) : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = "dl.max_pool"(%1) {kernel = array<i64: 3, 3>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x3xf32>
  return %2, %3 : tensor<1x2x4x4xf32>, tensor<1x2x4x3xf32>
}

// no-match: a pool refuses pads that hold a whole window.
// CHECK-LABEL: func.func @not_pad_of_a_window(
// CHECK-NEXT: "dl.pad"
// CHECK-NEXT: "dl.avg_pool"
func.func @not_pad_of_a_window(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x5x3xf32> {
  %0 = "dl.pad"(%x) {high = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 2, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32>
  %1 = "dl.avg_pool"(%0) {kernel = array<i64: 2, 2>} : (tensor<1x2x6x4xf32>) -> tensor<1x2x5x3xf32>
  return %1 : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @gather_of_range_to_slice(
// CHECK-NEXT: "dl.slice"(%arg0) {axes = array<i64: 0>, ends = array<i64: 5>, starts = array<i64: 2>, steps = array<i64: 1>}
// CHECK-NEXT: "dl.slice"(%arg0) {axes = array<i64: 1>, ends = array<i64: 0>, starts = array<i64: 3>, steps = array<i64: -2>}
func.func @gather_of_range_to_slice(%x: tensor<8x4xf32>) -> (tensor<3x4xf32>, tensor<8x2xf32>) {
  %i = "dl.constant"() {value = dense<[2, 3, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %j = "dl.constant"() {value = dense<[-1, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "dl.gather"(%x, %i) : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = "dl.gather"(%x, %j) {axis = 1 : i64} : (tensor<8x4xf32>, tensor<2xi32>) -> tensor<8x2xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<8x2xf32>
}

// no-match: uneven steps, and a dim that may be less than an index.
// CHECK-LABEL: func.func @not_gather_of_range(
// CHECK-COUNT-2: "dl.gather"
func.func @not_gather_of_range(%x: tensor<8x4xf32>, %d: tensor<?x4xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>) {
  %i = "dl.constant"() {value = dense<[2, 3, 5]> : tensor<3xi64>} : () -> tensor<3xi64>
  %j = "dl.constant"() {value = dense<[0, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "dl.gather"(%x, %i) : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = "dl.gather"(%d, %j) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @gather_of_one_to_slice(
// CHECK-NEXT: %[[S:.*]] = "dl.slice"(%arg0) {axes = array<i64: 1>, ends = array<i64: 4>, starts = array<i64: 3>, steps = array<i64: 1>}
// CHECK-NEXT: "dl.squeeze"(%[[S]]) {axes = array<i64: 1>}
func.func @gather_of_one_to_slice(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %i = "dl.constant"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.gather"(%x, %i) {axis = 1 : i64} : (tensor<8x4xf32>, tensor<i64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What is more than 64 bits hold stays two ops.

// CHECK-LABEL: func.func @merge_slices_beyond_64_bits(
// CHECK-COUNT-2: "dl.slice"
func.func @merge_slices_beyond_64_bits(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = "dl.slice"(%x) {starts = array<i64: 0>, ends = array<i64: 8>, axes = array<i64: 0>, steps = array<i64: 4>} : (tensor<8xf32>) -> tensor<2xf32>
  %1 = "dl.slice"(%0) {starts = array<i64: 0>, ends = array<i64: 1>, axes = array<i64: 0>, steps = array<i64: 4611686018427387904>} : (tensor<2xf32>) -> tensor<1xf32>
  %2 = "dl.concat"(%1, %1) {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// CHECK-LABEL: func.func @merge_pads_beyond_64_bits(
// CHECK-COUNT-2: "dl.pad"
func.func @merge_pads_beyond_64_bits(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "dl.pad"(%x) {low = array<i64: 4611686018427387904>, high = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "dl.pad"(%0) {low = array<i64: 4611686018427387904>, high = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
