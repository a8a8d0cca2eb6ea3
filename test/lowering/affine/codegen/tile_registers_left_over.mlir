// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Rows of an unknown number: what is left over goes with the last whole step, in steps of like heights.

// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0) -> (d0 floordiv 8)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0) -> (d0 ceildiv 8)>
// CHECK-LABEL: func.func private @rows(
// CHECK: affine.apply #[[WHOLE]](%[[ROWS:.*]])
// CHECK: affine.apply #[[ALL]](%[[ROWS]])
// CHECK: %[[LOW:.*]] = arith.divui
// CHECK: %[[HIGH:.*]] = arith.addi %[[LOW]],
// CHECK: %[[IS_HIGH:.*]] = arith.cmpi eq, %[[HIGH]], %c8
// CHECK: %[[MAIN:.*]] = arith.select %[[IS_HIGH]], %[[MIDDLE:.*]], %[[START:.*]] : index
// CHECK: %[[FROM:.*]] = arith.select %{{.*}}, %[[START]], %[[MIDDLE]] : index
// CHECK: %[[TO:.*]] = arith.select %{{.*}}, %[[ROWS]], %[[MIDDLE]] : index
// CHECK: affine.for %{{.*}} = 0 to %[[MAIN]] step 8 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 48 step 48 {
// CHECK: affine.for %{{.*}} = %[[FROM]] to %[[TO]] step 7 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 3 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 2 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} {
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
// CHECK-NOT: select
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
