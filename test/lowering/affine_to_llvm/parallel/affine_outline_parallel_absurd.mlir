// RUN: dlc-opt %s --pass-pipeline='builtin.module(affine-outline-parallel{min-work=1000})' --split-input-file --verify-diagnostics | filecheck %s
// Iterations that no index counts.

func.func @taken(%y: memref<0x0xf32>, %x: f32) {
  // expected-error @+1 {{the loops have 9223372036854775872 iterations, more than an index can count}}
  affine.for %i = -9223372036854775808 to 64 {
    affine.for %j = -9223372036854775808 to 64 {
      affine.store %x, %y[%i, %j] : memref<0x0xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

func.func @group(%x: memref<8xf32>) {
  // expected-error @+1 {{the loops have 9223372036854776108 iterations, more than an index can count; give bounds within 2^63}}
  affine.for %k = 0 to 300 {
    affine.for %i = -9223372036854775808 to 300 {
      affine.for %j = 0 to 100 {
        %v = affine.load %x[%i mod 8] : memref<8xf32>
        affine.store %v, %x[%i mod 8] : memref<8xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0}
  } {dlc.parallel_group = 0}
  return
}

// -----

// Work that no i64 counts is the largest one.

// CHECK-LABEL: func.func @often(
// CHECK: %[[MOST:.*]] = arith.constant 9223372036854775807 : i64
// CHECK: call @dlc_parallel_for_uneven(%{{.*}}, %{{.*}}, %{{.*}}, %[[MOST]], %{{.*}}, %{{.*}})
func.func @often(%x: memref<8xf32>) {
  affine.for %k = -9223372036854775808 to 300 {
    affine.for %i = 0 to 8 {
      affine.for %j = 0 to 100 {
        %v = affine.load %x[%i] : memref<8xf32>
        affine.store %v, %x[%i] : memref<8xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0}
  } {dlc.parallel_group = 0}
  return
}

// -----

// CHECK-LABEL: func.func @uneven(
// CHECK: %[[MOST:.*]] = arith.constant 9223372036854775807 : i64
// CHECK: call @dlc_parallel_for_uneven(%{{.*}}, %{{.*}}, %{{.*}}, %[[MOST]], %{{.*}}, %{{.*}})
func.func @uneven(%x: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = -9223372036854775808 to affine_map<(d0) -> (d0 * 1000000000000000000)>(%i) {
      %v = affine.load %x[%j mod 8, %i] : memref<8x8xf32>
      affine.store %v, %x[%j mod 8, %i] : memref<8x8xf32>
    }
  } {dlc.parallel}
  return
}
