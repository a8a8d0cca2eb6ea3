// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-stream-stores=min-bytes=4096 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-stream-stores=min-bytes=4096 | filecheck %s --check-prefix=FAR
// Light parallel nests stay in the last cache of a few cores where several threads run them; elsewhere threads do not matter.

// CHECK: func.func private @dlc_num_threads() -> i32
// CHECK-LABEL: func.func private @aligned(
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq,
// CHECK: %[[COUNT:.*]] = call @dlc_num_threads()
// CHECK: %[[ALONE:.*]] = arith.cmpi eq, %[[COUNT]], %c1_i32
// CHECK: %[[BOTH:.*]] = arith.andi %[[WHOLE]], %[[ALONE]]
// CHECK: scf.if %[[BOTH]] {
// FAR-NOT: dlc_num_threads
// FAR-LABEL: func.func private @aligned(
// FAR-NOT: dlc_num_threads
// FAR: nontemporal
func.func private @aligned(%x: memref<64x16xf32>, %y: memref<64x16xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 step 4 {
      %a = affine.vector_load %x[%i, %j] : memref<64x16xf32>, vector<4xf32>
      affine.vector_store %a, %y[%i, %j] : memref<64x16xf32>, vector<4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// A nest of much work, and one that writes down columns, go past the caches with any threads.
// CHECK-LABEL: func.func private @heavy(
// CHECK-NOT: dlc_num_threads
// CHECK: nontemporal
// CHECK-LABEL: func.func private @down(
// CHECK-NOT: dlc_num_threads
// CHECK: nontemporal
// FAR-LABEL: func.func private @heavy(
// FAR: nontemporal
func.func private @heavy(%x: memref<256xf32>, %y: memref<64x16xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 step 16 {
      %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (vector<16xf32>) {
        %a = affine.load %x[%k] : memref<256xf32>
        %b = vector.broadcast %a : f32 to vector<16xf32>
        %r = math.fma %b, %b, %t : vector<16xf32>
        affine.yield %r : vector<16xf32>
      }
      affine.vector_store %s, %y[%i, %j] : memref<64x16xf32>, vector<16xf32>
    }
  } {dlc.parallel}
  return
}
func.func private @down(%y: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %j = 0 to 32 step 16 {
    affine.for %i = 0 to 64 {
      affine.vector_store %zero, %y[%i, %j] : memref<64x32xf32>, vector<16xf32>
    }
  } {dlc.parallel}
  return
}
