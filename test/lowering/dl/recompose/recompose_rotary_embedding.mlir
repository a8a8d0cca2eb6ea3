// RUN: dlc-opt %s --dl-recompose-rotary-embedding | filecheck %s
// Rotary embedding is found in what exporters write. The pass refuses nothing.

// CHECK-LABEL: func.func @rotated_half(
// CHECK: %[[V0:.*]] = "dl.cos"(%arg1)
// CHECK: %[[V1:.*]] = "dl.sin"(%arg1)
// CHECK: %[[V2:.*]] = "dl.rotary_embedding"(%arg0, %[[V0]], %[[V1]])
// CHECK: return %[[V2]]
func.func @rotated_half(%x: tensor<?x3x5x8xf32>, %angles: tensor<1x5x4xf32>) -> tensor<?x3x5x8xf32> {
  %e = "dl.concat"(%angles, %angles) {axis = -1 : i64} : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x8xf32>
  %c = "dl.cos"(%e) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %s = "dl.sin"(%e) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %cu = "dl.unsqueeze"(%c) {axes = array<i64: 1>} : (tensor<1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %su = "dl.unsqueeze"(%s) {axes = array<i64: 1>} : (tensor<1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %m = "dl.mul"(%x, %cu) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %a = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 4>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %b = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 4>, ends = array<i64: 9223372036854775807>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %n = "dl.neg"(%b) : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %t = "dl.concat"(%n, %a) {axis = -1 : i64} : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x8xf32>
  %o = "dl.mul"(%t, %su) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %y = "dl.add"(%m, %o) : (tensor<?x3x5x8xf32>, tensor<?x3x5x8xf32>) -> tensor<?x3x5x8xf32>
  return %y : tensor<?x3x5x8xf32>
}

// CHECK-LABEL: func.func @rotated_neighbours(
// CHECK: %[[V0:.*]] = "dl.cos"(%arg1)
// CHECK: %[[V1:.*]] = "dl.sin"(%arg1)
// CHECK: %[[V2:.*]] = "dl.rotary_embedding"(%arg0, %[[V0]], %[[V1]]) {interleaved = true}
// CHECK: return %[[V2]]
func.func @rotated_neighbours(%x: tensor<?x3x5x8xf32>, %angles: tensor<1x5x4xf32>) -> tensor<?x3x5x8xf32> {
  %f = "dl.unsqueeze"(%angles) {axes = array<i64: 3>} : (tensor<1x5x4xf32>) -> tensor<1x5x4x1xf32>
  %g = "dl.expand"(%f) {shape = array<i64: 1, 1, 1, 2>} : (tensor<1x5x4x1xf32>) -> tensor<1x5x4x2xf32>
  %e = "dl.reshape"(%g) {shape = array<i64: 1, 5, 8>} : (tensor<1x5x4x2xf32>) -> tensor<1x5x8xf32>
  %c = "dl.cos"(%e) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %s = "dl.sin"(%e) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %cu = "dl.unsqueeze"(%c) {axes = array<i64: 1>} : (tensor<1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %su = "dl.unsqueeze"(%s) {axes = array<i64: 1>} : (tensor<1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %m = "dl.mul"(%x, %cu) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %a = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 8>, steps = array<i64: 2>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %b = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 1>, ends = array<i64: 8>, steps = array<i64: 2>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %n = "dl.neg"(%b) : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %nu = "dl.unsqueeze"(%n) {axes = array<i64: 4>} : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4x1xf32>
  %au = "dl.unsqueeze"(%a) {axes = array<i64: 4>} : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4x1xf32>
  %j = "dl.concat"(%nu, %au) {axis = 4 : i64} : (tensor<?x3x5x4x1xf32>, tensor<?x3x5x4x1xf32>) -> tensor<?x3x5x4x2xf32>
  %t = "dl.reshape"(%j) {shape = array<i64: -1, 3, 5, 8>, copied = array<i64: 0, -1, -1, -1>} : (tensor<?x3x5x4x2xf32>) -> tensor<?x3x5x8xf32>
  %o = "dl.mul"(%t, %su) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %y = "dl.add"(%m, %o) : (tensor<?x3x5x8xf32>, tensor<?x3x5x8xf32>) -> tensor<?x3x5x8xf32>
  return %y : tensor<?x3x5x8xf32>
}

// CHECK-LABEL: func.func @turned_halves(
// CHECK: %[[V0:.*]] = "dl.cos"(%arg1)
// CHECK: %[[V1:.*]] = "dl.sin"(%arg1)
// CHECK: %[[V2:.*]] = "dl.rotary_embedding"(%arg0, %[[V0]], %[[V1]])
// CHECK: return %[[V2]]
func.func @turned_halves(%x: tensor<?x3x5x8xf32>, %angles: tensor<1x5x4xf32>) -> tensor<?x3x5x8xf32> {
  %c = "dl.cos"(%angles) : (tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  %s = "dl.sin"(%angles) : (tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  %cu = "dl.unsqueeze"(%c) {axes = array<i64: 1>} : (tensor<1x5x4xf32>) -> tensor<1x1x5x4xf32>
  %su = "dl.unsqueeze"(%s) {axes = array<i64: 1>} : (tensor<1x5x4xf32>) -> tensor<1x1x5x4xf32>
  %a = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 4>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %b = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 4>, ends = array<i64: 8>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %ac = "dl.mul"(%a, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %bs = "dl.mul"(%b, %su) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %l = "dl.sub"(%ac, %bs) : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %bc = "dl.mul"(%b, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %as = "dl.mul"(%a, %su) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %h = "dl.add"(%bc, %as) : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %y = "dl.concat"(%l, %h) {axis = 3 : i64} : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x8xf32>
  return %y : tensor<?x3x5x8xf32>
}

// CHECK-LABEL: func.func @turned_neighbours(
// CHECK: %[[V0:.*]] = "dl.rotary_embedding"(%arg0, %arg1, %arg1) {interleaved = true}
// CHECK: return %[[V0]]
func.func @turned_neighbours(%x: tensor<?x3x5x8xf32>, %angles: tensor<1x5x4xf32>) -> tensor<?x3x5x8xf32> {
  %cu = "dl.unsqueeze"(%angles) {axes = array<i64: 1>} : (tensor<1x5x4xf32>) -> tensor<1x1x5x4xf32>
  %a = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 8>, steps = array<i64: 2>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %b = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 1>, ends = array<i64: 8>, steps = array<i64: 2>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %ac = "dl.mul"(%a, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %bs = "dl.mul"(%b, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %l = "dl.sub"(%ac, %bs) : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %bc = "dl.mul"(%b, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %as = "dl.mul"(%a, %cu) : (tensor<?x3x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<?x3x5x4xf32>
  %h = "dl.add"(%bc, %as) : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %lu = "dl.unsqueeze"(%l) {axes = array<i64: 4>} : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4x1xf32>
  %hu = "dl.unsqueeze"(%h) {axes = array<i64: 4>} : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4x1xf32>
  %j = "dl.concat"(%lu, %hu) {axis = 4 : i64} : (tensor<?x3x5x4x1xf32>, tensor<?x3x5x4x1xf32>) -> tensor<?x3x5x4x2xf32>
  %y = "dl.reshape"(%j) {shape = array<i64: -1, 3, 5, 8>, copied = array<i64: 0, -1, -1, -1>} : (tensor<?x3x5x4x2xf32>) -> tensor<?x3x5x8xf32>
  return %y : tensor<?x3x5x8xf32>
}

// CHECK-LABEL: func.func @narrow_rotary_embedding(
// CHECK: %[[V0:.*]] = "dl.rotary_embedding"(%arg0, %arg1, %arg2)
// CHECK: return %[[V0]]
func.func @narrow_rotary_embedding(%x: tensor<?x3x5x8xf16>, %cos: tensor<1x5x4xf16>, %sin: tensor<1x5x4xf16>) -> tensor<?x3x5x8xf16> {
  %a = "dl.cast"(%x) {to = f32} : (tensor<?x3x5x8xf16>) -> tensor<?x3x5x8xf32>
  %c = "dl.cast"(%cos) {to = f32} : (tensor<1x5x4xf16>) -> tensor<1x5x4xf32>
  %s = "dl.cast"(%sin) {to = f32} : (tensor<1x5x4xf16>) -> tensor<1x5x4xf32>
  %e = "dl.rotary_embedding"(%a, %c, %s) : (tensor<?x3x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<?x3x5x8xf32>
  %y = "dl.cast"(%e) {to = f16} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x8xf16>
  return %y : tensor<?x3x5x8xf16>
}

// no-match: the halves of the cosines may differ.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.mul"(%arg0, %arg1)
// CHECK: %[[V1:.*]] = "dl.slice"(%arg0) {axes = array<i64: -1>, ends = array<i64: 4>, starts = array<i64: 0>, steps = array<i64: 1>}
// CHECK: %[[V2:.*]] = "dl.slice"(%arg0) {axes = array<i64: -1>, ends = array<i64: 8>, starts = array<i64: 4>, steps = array<i64: 1>}
// CHECK: %[[V3:.*]] = "dl.neg"(%[[V2]])
// CHECK: %[[V4:.*]] = "dl.concat"(%[[V3]], %[[V1]]) {axis = -1 : i64}
// CHECK: %[[V5:.*]] = "dl.mul"(%[[V4]], %arg2)
// CHECK: %[[V6:.*]] = "dl.add"(%[[V0]], %[[V5]])
// CHECK: return %[[V6]]
func.func @near_misses(%x: tensor<?x3x5x8xf32>, %cos: tensor<1x1x5x8xf32>, %sin: tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32> {
  %m = "dl.mul"(%x, %cos) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %a = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 4>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %b = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 4>, ends = array<i64: 8>, steps = array<i64: 1>} : (tensor<?x3x5x8xf32>) -> tensor<?x3x5x4xf32>
  %n = "dl.neg"(%b) : (tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %t = "dl.concat"(%n, %a) {axis = -1 : i64} : (tensor<?x3x5x4xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x8xf32>
  %o = "dl.mul"(%t, %sin) : (tensor<?x3x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<?x3x5x8xf32>
  %y = "dl.add"(%m, %o) : (tensor<?x3x5x8xf32>, tensor<?x3x5x8xf32>) -> tensor<?x3x5x8xf32>
  return %y : tensor<?x3x5x8xf32>
}
