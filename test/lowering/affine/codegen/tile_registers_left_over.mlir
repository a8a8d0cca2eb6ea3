// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Rows of an unknown number: what is left over by the tiles takes few steps, in the end one for each number of rows.

// CHECK-DAG: #[[EIGHTS:.*]] = affine_map<()[s0] -> (s0 - s0 mod 8)>
// CHECK-LABEL: func.func private @rows(
// CHECK: affine.for %{{.*}} = 0 to #[[EIGHTS]]()[%{{.*}}] step 8 {
// CHECK: affine.for %{{.*}} = #[[EIGHTS]]()[%{{.*}}] to #{{.*}}()[%{{.*}}] step 7 {
// CHECK: affine.for %{{.*}} = #{{.*}}()[%{{.*}}] to #{{.*}}()[%{{.*}}] step 6 {
// CHECK: affine.for %{{.*}} = #{{.*}}()[%{{.*}}] to #{{.*}}()[%{{.*}}] step 2 {
// CHECK: affine.for %{{.*}} = #{{.*}}()[%{{.*}}] to %{{.*}} {
func.func private @rows(%a: memref<?x64xf32>, %b: memref<64x48xf32>, %c: memref<?x48xf32>) {
  %axis = arith.constant 0 : index
  %n = memref.dim %a, %axis : memref<?x64xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 48 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<?x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x48xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<?x48xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: a known number takes steps of two heights.
// CHECK-LABEL: func.func private @known(
// CHECK: affine.for %{{.*}} = 0 to 7 step 7 {
// CHECK: affine.for %{{.*}} = 7 to 13 step 6 {
// CHECK-NOT: mod
func.func private @known(%a: memref<13x64xf32>, %b: memref<64x48xf32>, %c: memref<13x48xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 13 {
    affine.for %j = 0 to 48 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<13x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x48xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<13x48xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
