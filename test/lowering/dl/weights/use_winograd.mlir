// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --dl-use-winograd | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --dl-use-winograd --dl-use-winograd | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --dl-use-winograd | filecheck %s --check-prefix=MANY
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --dl-use-winograd=most=4 | filecheck %s --check-prefix=FOUR
// RUN: dlc-opt %s --dl-use-winograd=most=0 | filecheck %s --check-prefix=OFF
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --dl-use-winograd=force | filecheck %s --check-prefix=FORCE
// RUN: not dlc-opt %s --dl-use-winograd=most=3 2>&1 | filecheck %s --check-prefix=SIZE
// Convolutions by 3x3 taps get transformed kernels where that is estimated to be faster.

// SIZE: error: {{.*}}dl.winograd is 3; give 0, 2 or 4
// OFF-NOT: dl.winograd_conv

// CHECK-LABEL: func.func @blocked(
// CHECK-SAME: %[[X:.*]]: tensor<?x56x56x64xf32>)
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[B:.*]] = "dl.param"
// CHECK: %[[G:.*]] = "dl.constant"() {{.*}} -> tensor<16x9xf64>
// CHECK: %[[WIDE:.*]] = "dl.cast"(%[[W]])
// CHECK: %[[FLAT:.*]] = "dl.reshape"(%[[WIDE]]) {{.*}} -> tensor<4x9x1024xf64>
// CHECK: %[[U:.*]] = "dl.matmul"(%[[G]], %[[FLAT]]) : {{.*}} -> tensor<4x16x1024xf64>
// CHECK: %[[NARROW:.*]] = "dl.cast"(%[[U]])
// CHECK: %[[SPLIT:.*]] = "dl.reshape"(%[[NARROW]]) {{.*}} -> tensor<4x1x16x64x16xf32>
// CHECK: %[[APART:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 2, 0, 3, 1, 4>}
// CHECK: %[[K:.*]] = "dl.reshape"(%[[APART]])
// CHECK: "dl.winograd_conv"(%[[X]], %[[K]], %[[B]]) {{{.*}}pads = array<i64: 1, 1, 1, 1>} : (tensor<?x56x56x64xf32>, tensor<16x4x64x16xf32>, tensor<64xf32>) -> tensor<?x56x56x64xf32>
// With many registers a block has as many channels as a register tile.
// MANY-LABEL: func.func @blocked(
// MANY: "dl.reshape"({{.*}} -> tensor<2x2x16x64x16xf32>
// MANY: %[[K:.*]] = "dl.reshape"({{.*}} -> tensor<16x2x64x32xf32>
// MANY: "dl.winograd_conv"(%{{.*}}, %[[K]], %{{.*}}) {{.*}} -> tensor<?x56x56x64xf32>
// FOUR-LABEL: func.func @blocked(
// FOUR: tensor<36x4x64x16xf32>
func.func @blocked(%x: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 3, 64, 16>, dtype = f32} : () -> tensor<4x3x3x64x16xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 64>, dtype = f32} : () -> tensor<64xf32>
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x56x56x64xf32>, tensor<4x3x3x64x16xf32>, tensor<64xf32>) -> tensor<?x56x56x64xf32>
  return %0 : tensor<?x56x56x64xf32>
}

// A kernel without blocks is cut into them; f64 needs no cast.
// FORCE-LABEL: func.func @plain(
// FORCE-NOT: dl.cast
// FORCE: %[[U:.*]] = "dl.matmul"(%{{.*}}, %{{.*}}) : (tensor<16x9xf64>, tensor<9x128xf64>) -> tensor<16x128xf64>
// FORCE: %[[SPLIT:.*]] = "dl.reshape"(%[[U]]) {{.*}} -> tensor<16x4x2x16xf64>
// FORCE: "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 0, 2, 1, 3>}
// FORCE: "dl.winograd_conv"
// no-match without force: few channels.
// CHECK-LABEL: func.func @plain(
// CHECK: "dl.conv"
func.func @plain(%x: tensor<1x9x9x4xf64>) -> tensor<1x7x7x32xf64> {
  %w = "dl.param"() {key = "v", shape = array<i64: 3, 3, 4, 32>, dtype = f64} : () -> tensor<3x3x4x32xf64>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x9x9x4xf64>, tensor<3x3x4x32xf64>) -> tensor<1x7x7x32xf64>
  return %0 : tensor<1x7x7x32xf64>
}

// Sizes of images that are not known: tiles are weighed for usual ones.
// CHECK-LABEL: func.func @open(
// CHECK: "dl.winograd_conv"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<?x?x?x64xf32>, tensor<16x4x64x16xf32>) -> tensor<?x?x?x64xf32>
func.func @open(%x: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %w = "dl.param"() {key = "wo", shape = array<i64: 4, 3, 3, 64, 16>, dtype = f32} : () -> tensor<4x3x3x64x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x64xf32>, tensor<4x3x3x64x16xf32>) -> tensor<?x?x?x64xf32>
  return %0 : tensor<?x?x?x64xf32>
}

// no-match: different strides, other taps, dynamic sizes with stride 2, channels first, a computed kernel, f16, and output channels that fill no block.
// FORCE-LABEL: func.func @left(
// FORCE-COUNT-7: "dl.conv"
// FORCE: return
func.func @left(%x: tensor<1x9x9x16xf32>, %y: tensor<1x?x9x16xf32>, %k: tensor<3x3x16x16xf32>, %h: tensor<1x9x9x16xf16>) {
  %w = "dl.param"() {key = "w3", shape = array<i64: 3, 3, 16, 16>, dtype = f32} : () -> tensor<3x3x16x16xf32>
  %v = "dl.param"() {key = "w5", shape = array<i64: 5, 5, 16, 16>, dtype = f32} : () -> tensor<5x5x16x16xf32>
  %u = "dl.param"() {key = "u", shape = array<i64: 3, 3, 16, 24>, dtype = f32} : () -> tensor<3x3x16x24xf32>
  %f = "dl.param"() {key = "f", shape = array<i64: 16, 9, 3, 3>, dtype = f32} : () -> tensor<16x9x3x3xf32>
  %g = "dl.param"() {key = "g", shape = array<i64: 3, 3, 16, 16>, dtype = f16} : () -> tensor<3x3x16x16xf16>
  %0 = "dl.conv"(%x, %w) {channels_last = true, strides = array<i64: 2, 1>} : (tensor<1x9x9x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x4x7x16xf32>
  %1 = "dl.conv"(%x, %v) {channels_last = true} : (tensor<1x9x9x16xf32>, tensor<5x5x16x16xf32>) -> tensor<1x5x5x16xf32>
  %2 = "dl.conv"(%y, %w) {channels_last = true, strides = array<i64: 2, 2>} : (tensor<1x?x9x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x?x4x16xf32>
  %3 = "dl.conv"(%x, %f) : (tensor<1x9x9x16xf32>, tensor<16x9x3x3xf32>) -> tensor<1x16x7x14xf32>
  %4 = "dl.conv"(%x, %k) {channels_last = true} : (tensor<1x9x9x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x7x7x16xf32>
  %5 = "dl.conv"(%h, %g) {channels_last = true} : (tensor<1x9x9x16xf16>, tensor<3x3x16x16xf16>) -> tensor<1x7x7x16xf16>
  %6 = "dl.conv"(%x, %u) {channels_last = true} : (tensor<1x9x9x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x7x7x24xf32>
  return
}
