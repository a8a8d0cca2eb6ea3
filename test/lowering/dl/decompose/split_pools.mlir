// RUN: dlc-opt %s --dl-split-pools | filecheck %s
// RUN: dlc-opt %s --dl-split-pools=share=0 | filecheck %s --check-prefix=NEVER
// RUN: not dlc-opt %s --dl-split-pools=share=-1 2>&1 | filecheck %s --check-prefix=SHARE
// Poolings over large windows go along one axis after the other, the last one first.

// SHARE: error: {{.*}}share is -1.0; give 0 or more
// NEVER: kernel = array<i64: 15, 13>
// NEVER: kernel = array<i64: 1, 13, 17>

// CHECK-LABEL: func.func @square(
// CHECK: %[[ROWS:.*]] = "dl.max_pool"(%arg0) {{{.*}}kernel = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>, strides = array<i64: 1, 2>
// CHECK-SAME: -> tensor<?x8x26x7xf32>
// CHECK: %[[ALL:.*]] = "dl.max_pool"(%[[ROWS]]) {{{.*}}kernel = array<i64: 15, 1>, pads = array<i64: 5, 0, 6, 0>, strides = array<i64: 1, 1>
// CHECK-SAME: -> tensor<?x8x23x7xf32>
// CHECK: return %[[ALL]]
func.func @square(%x: tensor<?x8x26x13xf32>) -> tensor<?x8x23x7xf32> {
  %0 = "dl.max_pool"(%x) {kernel = array<i64: 15, 13>, pads = array<i64: 5, 6, 6, 6>, strides = array<i64: 1, 2>}
      : (tensor<?x8x26x13xf32>) -> tensor<?x8x23x7xf32>
  return %0 : tensor<?x8x23x7xf32>
}

// An axis of one tap goes along with the first of the others.
// CHECK-LABEL: func.func @volume(
// CHECK: "dl.avg_pool"(%arg0) {channels_last = true, count_include_pad = true, {{.*}}kernel = array<i64: 1, 1, 17>, {{.*}}strides = array<i64: 3, 1, 1>
// CHECK: "dl.avg_pool"(%{{.*}}) {channels_last = true, count_include_pad = true, {{.*}}kernel = array<i64: 1, 13, 1>, {{.*}}strides = array<i64: 1, 1, 1>
func.func @volume(%x: tensor<1x6x20x20x8xf32>) -> tensor<1x2x8x4x8xf32> {
  %0 = "dl.avg_pool"(%x) {kernel = array<i64: 1, 13, 17>, strides = array<i64: 3, 1, 1>, channels_last = true, count_include_pad = true}
      : (tensor<1x6x20x20x8xf32>) -> tensor<1x2x8x4x8xf32>
  return %0 : tensor<1x2x8x4x8xf32>
}

// no-match: few taps; windows that hardly overlap; means that f16 would round twice.
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-3: "dl.{{max|avg}}_pool"
// CHECK-NOT: dl.{{max|avg}}_pool
func.func @whole(%x: tensor<1x8x30x30xf32>, %y: tensor<1x8x13x13xf16>)
    -> (tensor<1x8x26x26xf32>, tensor<1x8x2x2xf32>, tensor<1x8x1x1xf16>) {
  %0 = "dl.max_pool"(%x) {kernel = array<i64: 5, 5>} : (tensor<1x8x30x30xf32>) -> tensor<1x8x26x26xf32>
  %1 = "dl.max_pool"(%x) {kernel = array<i64: 15, 13>, strides = array<i64: 15, 13>} : (tensor<1x8x30x30xf32>) -> tensor<1x8x2x2xf32>
  %2 = "dl.avg_pool"(%y) {kernel = array<i64: 13, 13>} : (tensor<1x8x13x13xf16>) -> tensor<1x8x1x1xf16>
  return %0, %1, %2 : tensor<1x8x26x26xf32>, tensor<1x8x2x2xf32>, tensor<1x8x1x1xf16>
}
