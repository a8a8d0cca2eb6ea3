// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --dl-version-convolutions | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --dl-version-convolutions --dl-use-winograd | filecheck %s --check-prefix=TILES
// RUN: not dlc-opt %s --dl-version-convolutions=most=3 2>&1 | filecheck %s --check-prefix=MOST
// Small images have code of their own, with the bounds of their sides, where kernels of sixteen matrices would keep them waiting.

// MOST: error: dl.winograd is 3
// MOST: give 0, 2 or 4

// What becomes one kernel with the convolution goes along.
// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[X:.*]]: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]}, %[[R:.*]]: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]})
// CHECK: %[[S:.*]] = "dl.shape_of"(%[[X]])
// CHECK: %[[H:.*]] = tensor.extract %[[S]][%c1]
// CHECK: %[[C:.*]] = arith.constant 6 : i64
// CHECK: %[[LOW:.*]] = arith.cmpi sle, %[[H]], %[[C]] : i64
// CHECK: %[[W:.*]] = tensor.extract %{{.*}}[%c2]
// CHECK: %[[NARROW:.*]] = arith.cmpi sle, %[[W]],
// CHECK: %[[SMALL:.*]] = arith.andi %[[LOW]], %[[NARROW]]
// CHECK: %[[Y:.*]] = scf.if %[[SMALL]]
// CHECK-NEXT: func.call @[[FIRST:.*]](%[[X]], %[[R]])
// CHECK: } else {
// CHECK-NEXT: func.call @[[SECOND:.*]](%[[X]], %[[R]])
// CHECK: return %[[Y]]
func.func @epilogue(%x: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]}, %r: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]})
    -> tensor<1x?x?x512xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 512, 512>, dtype = f32} : () -> tensor<3x3x512x512xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x?x?x512xf32>
  %1 = "dl.add"(%0, %r) : (tensor<1x?x?x512xf32>, tensor<1x?x?x512xf32>) -> tensor<1x?x?x512xf32>
  %2 = "dl.relu"(%1) : (tensor<1x?x?x512xf32>) -> tensor<1x?x?x512xf32>
  return %2 : tensor<1x?x?x512xf32>
}

// A side of the image is two more than one of the result; one that is known and small is not asked for.
// CHECK-LABEL: func.func @row(
// CHECK: %[[C:.*]] = arith.constant 8 : i64
// CHECK: %[[NARROW:.*]] = arith.cmpi sle, %{{.*}}, %[[C]]
// CHECK-NEXT: scf.if %[[NARROW]]
func.func @row(%x: tensor<1x7x?x512xf32>) -> tensor<1x5x?x512xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 512, 512>, dtype = f32} : () -> tensor<3x3x512x512xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x7x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x5x?x512xf32>
  return %0 : tensor<1x5x?x512xf32>
}

// no-match: no image is as small as that, or all are.
// CHECK-LABEL: func.func @bounded(
// CHECK-NOT: scf.if
// CHECK: return
func.func @bounded(%x: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]}, %y: tensor<1x4x?x512xf32> {dl.dims = ["", "", "s", ""]})
    -> (tensor<1x?x?x512xf32>, tensor<1x4x?x512xf32>)
    attributes {dl.bounds = {h = array<i64: 7, -1, 1>, w = array<i64: 0, -1, 1>, s = array<i64: 0, 5, 1>}} {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 512, 512>, dtype = f32} : () -> tensor<3x3x512x512xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x?x?x512xf32>
  %1 = "dl.conv"(%y, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x4x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x4x?x512xf32>
  return %0, %1 : tensor<1x?x?x512xf32>, tensor<1x4x?x512xf32>
}

// CHECK: @[[FIRST]]({{.*}}["", "d0", "d1", ""]{{.*}} attributes {dl.body, dl.bounds = {d0 = array<i64: 0, 6, 1>, d1 = array<i64: 0, 6, 1>}}
// TILES: @body_0(
// TILES: "dl.conv"
// TILES: @body_1(
// TILES: "dl.winograd_conv"
