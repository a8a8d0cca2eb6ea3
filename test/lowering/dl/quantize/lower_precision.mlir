// RUN: dlc-opt %s --dl-set-target=target=znver4 --dl-lower-precision=to=bf16 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-lower-precision=to=bf16 | filecheck %s --check-prefix=WIDE
// RUN: dlc-opt %s --dl-lower-precision | filecheck %s --check-prefix=OFF
// RUN: not dlc-opt %s --dl-lower-precision=to=f8 2>&1 | filecheck %s --check-prefix=TYPE
// Weights of products come in pairs of bf16; the other side is rounded where the target multiplies bf16.

// TYPE: option 'to' of pass 'dl-lower-precision' expects one of module, f32, bf16 but got 'f8'
// OFF-NOT: dl.vnni_matmul

// CHECK-LABEL: func.func @even(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>)
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[ROUNDED:.*]] = "dl.cast"(%[[X]]) {flush = true, to = bf16} : (tensor<?x8xf32>) -> tensor<?x8xbf16>
// CHECK: %[[PAIRS:.*]] = "dl.bf16_pairs"(%[[W]]) : (tensor<3x8x16xf32>) -> tensor<3x4x16xi32>
// CHECK: "dl.vnni_matmul"(%[[ROUNDED]], %[[PAIRS]]) {columns = 33 : i64} : (tensor<?x8xbf16>, tensor<3x4x16xi32>) -> tensor<?x33xf32>

// Elsewhere weights that lie near stay f32: there is nothing to save (lower_precision_slow_dots.mlir has those that pay).
// WIDE-LABEL: func.func @even(
// WIDE-NOT: dl.bf16_pairs
func.func @even(%x: tensor<?x8xf32>) -> tensor<?x33xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 8, 16>, dtype = f32} : () -> tensor<3x8x16xf32>
  %0 = "dl.packed_matmul"(%x, %w) {columns = 33 : i64} : (tensor<?x8xf32>, tensor<3x8x16xf32>) -> tensor<?x33xf32>
  return %0 : tensor<?x33xf32>
}

// A column of zeros makes pairs of an odd number of products.
// CHECK-LABEL: func.func @odd(
// CHECK: "dl.pad"({{.*}}) {{.*}} : (tensor<4x7xbf16>) -> tensor<4x8xbf16>
// CHECK: "dl.vnni_matmul"
func.func @odd(%x: tensor<4x7xf32>) -> tensor<4x16xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 7, 16>, dtype = f32} : () -> tensor<1x7x16xf32>
  %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x7xf32>, tensor<1x7x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// A convolution by blocks of channels, where the target multiplies bf16: a product for one tap, else pairs of channels.
// CHECK-LABEL: func.func @convolutions(
// CHECK: %[[ONE:.*]] = "dl.vnni_matmul"({{.*}}) : (tensor<?x6x6x4xbf16>, tensor<1x2x16xi32>) -> tensor<?x6x6x16xf32>
// CHECK: %[[SUM:.*]] = "dl.add"(%[[ONE]], %{{.*}})
// CHECK: "dl.pad"({{.*}}) {{.*}} -> tensor<?x6x6x4xbf16>
// CHECK: "dl.vnni_conv"({{.*}}) {strides = array<i64: 2, 2>} : (tensor<?x6x6x4xbf16>, tensor<1x3x3x2x16xi32>)
// CHECK: return %[[SUM]]

// WIDE-LABEL: func.func @convolutions(
// WIDE-COUNT-2: "dl.conv"
func.func @convolutions(%x: tensor<?x6x6x4xf32>, %y: tensor<?x6x6x3xf32>) -> (tensor<?x6x6x16xf32>, tensor<?x2x2x16xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 1, 4, 16>, dtype = f32} : () -> tensor<1x1x1x4x16xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 16>, dtype = f32} : () -> tensor<16xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 3, 3, 3, 16>, dtype = f32} : () -> tensor<1x3x3x3x16xf32>
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true}
      : (tensor<?x6x6x4xf32>, tensor<1x1x1x4x16xf32>, tensor<16xf32>) -> tensor<?x6x6x16xf32>
  %1 = "dl.conv"(%y, %v) {channels_last = true, strides = array<i64: 2, 2>}
      : (tensor<?x6x6x3xf32>, tensor<1x3x3x3x16xf32>) -> tensor<?x2x2x16xf32>
  return %0, %1 : tensor<?x6x6x16xf32>, tensor<?x2x2x16xf32>
}

// no-match: a computed matrix, a product of weights alone, numbers of another type, and a kernel that is not in blocks.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-3: "dl.packed_matmul"
// CHECK: "dl.conv"
// CHECK-NOT: dl.pair_
func.func @left(
    %x: tensor<4x8xf32>, %y: tensor<1x8x16xf32>, %z: tensor<4x8xf64>, %image: tensor<1x8x5x5xf32>
) -> (tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf64>, tensor<1x2x5x5xf32>) {
  %a = "dl.param"() {key = "a", shape = array<i64: 8, 8>, dtype = f32} : () -> tensor<8x8xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 8, 16>, dtype = f32} : () -> tensor<1x8x16xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 8, 16>, dtype = f64} : () -> tensor<1x8x16xf64>
  %0 = "dl.packed_matmul"(%x, %y) : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x16xf32>
  %1 = "dl.packed_matmul"(%a, %w) : (tensor<8x8xf32>, tensor<1x8x16xf32>) -> tensor<8x16xf32>
  %2 = "dl.packed_matmul"(%z, %v) : (tensor<4x8xf64>, tensor<1x8x16xf64>) -> tensor<4x16xf64>
  %k = "dl.param"() {key = "k", shape = array<i64: 2, 8, 1, 1>, dtype = f32} : () -> tensor<2x8x1x1xf32>
  %3 = "dl.conv"(%image, %k) : (tensor<1x8x5x5xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x5x5xf32>
  return %0, %1, %2, %3 : tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf64>, tensor<1x2x5x5xf32>
}

// Images that convolutions read are stored in bf16 for all who read them, but for results and for windows, which cannot widen.
// CHECK-LABEL: func.func @images(
// CHECK: %[[A:.*]] = "dl.relu"
// CHECK: %[[STORED:.*]] = "dl.cast"(%[[A]]) {flush = true, to = bf16} : (tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xbf16>
// CHECK: %[[DEPTHWISE:.*]] = "dl.conv"(%[[STORED]], %{{.*}}) {{.*}} : (tensor<1x6x6x16xbf16>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
// CHECK: %[[NEXT:.*]] = "dl.cast"(%[[DEPTHWISE]]) {flush = true, to = bf16}
// CHECK: %[[PRODUCT:.*]] = "dl.vnni_matmul"(%[[NEXT]]
// CHECK: %[[AGAIN:.*]] = "dl.cast"(%[[STORED]]) {to = f32}
// CHECK: %[[SUM:.*]] = "dl.add"(%[[PRODUCT]], %[[AGAIN]])
// CHECK: "dl.cast"(%[[SUM]]) {flush = true, to = bf16}
// CHECK: %[[POOLED:.*]] = "dl.max_pool"(%[[SUM]])
// CHECK: return %[[SUM]], %{{.*}}, %[[POOLED]]

// WIDE-LABEL: func.func @images(
// WIDE-NOT: dl.cast
func.func @images(%x: tensor<1x6x6x16xf32>) -> (tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>, tensor<1x3x3x16xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 1, 16, 16>, dtype = f32} : () -> tensor<1x1x1x16x16xf32>
  %k = "dl.param"() {key = "k", shape = array<i64: 3, 3, 1, 16>, dtype = f32} : () -> tensor<3x3x1x16xf32>
  %a = "dl.relu"(%x) : (tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %d = "dl.conv"(%a, %k) {channels_last = true, groups = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
  %p = "dl.conv"(%d, %w) {channels_last = true} : (tensor<1x6x6x16xf32>, tensor<1x1x1x16x16xf32>) -> tensor<1x6x6x16xf32>
  %s = "dl.add"(%p, %a) : (tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %q = "dl.conv"(%s, %w) {channels_last = true} : (tensor<1x6x6x16xf32>, tensor<1x1x1x16x16xf32>) -> tensor<1x6x6x16xf32>
  %m = "dl.max_pool"(%s) {channels_last = true, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x6x6x16xf32>) -> tensor<1x3x3x16xf32>
  return %s, %q, %m : tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>, tensor<1x3x3x16xf32>
}

// no-match: pairs are of one group.
// CHECK-LABEL: func.func @groups(
// CHECK: "dl.conv"({{.*}}) {channels_last = true, groups = 2 : i64}
func.func @groups(%x: tensor<1x6x6x8xf32>) -> tensor<1x6x6x32xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 1, 1, 4, 16>, dtype = f32} : () -> tensor<2x1x1x4x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, groups = 2 : i64} : (tensor<1x6x6x8xf32>, tensor<2x1x1x4x16xf32>) -> tensor<1x6x6x32xf32>
  return %0 : tensor<1x6x6x32xf32>
}
