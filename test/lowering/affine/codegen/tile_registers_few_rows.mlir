// RUN: dlc-opt %s --affine-tile-registers | filecheck %s
// One or two rows have too few sums to keep the multiply-add units busy in a tile of two vectors: they take eight and four.

// CHECK-LABEL: func.func private @rows(
// CHECK: affine.for %{{.*}} = 0 to 96 step 16 {
// CHECK: affine.for %{{.*}} = 0 to %{{.*}} step 6 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 3 {
// CHECK: } {dlc.parallel}
// CHECK: } {dlc.parallel, dlc.schedule = {{{.*}}vectors = 2 : i64{{.*}}}
// CHECK-NEXT: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 2 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 96 step 32 {
// CHECK: } {dlc.parallel}
// CHECK-NEXT: }
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 64 step 64 {
// CHECK: affine.for %{{.*}} = 64 to 96 step 64 {
// CHECK: return
func.func private @rows(%a: memref<?x64xf32>, %b: memref<64x96xf32>, %c: memref<?x96xf32>) {
  %axis = arith.constant 0 : index
  %n = memref.dim %a, %axis : memref<?x64xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 96 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x96xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<?x96xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1, lanes = 8, vectors = 2, unroll_and_jam = [array<i64: 0, 6>], order = array<i64: 1, 0>, unroll = 2}}
  return
}

// no-match: columns of an unknown number end in single vectors, of which wide tiles would leave more.
// CHECK-LABEL: func.func private @columns(
// CHECK: affine.for %{{.*}} = 0 to #{{.*}}()[%{{.*}}] step 16 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 2 {
// CHECK-NOT: step 32
// CHECK: return
func.func private @columns(%a: memref<?x64xf32>, %b: memref<64x?xf32>, %c: memref<?x?xf32>, %m: index) {
  %axis = arith.constant 0 : index
  %n = memref.dim %a, %axis : memref<?x64xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x?xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1, lanes = 8, vectors = 2, unroll_and_jam = [array<i64: 0, 6>], order = array<i64: 1, 0>, unroll = 2}}
  return
}
