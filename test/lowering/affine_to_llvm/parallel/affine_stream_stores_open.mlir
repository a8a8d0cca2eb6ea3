// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-stream-stores | filecheck %s
// Results whose size run time knows go past the caches where it is large, but for those of sums: the pass leaves these alone (no-match).

// CHECK-LABEL: func.func private @light(
// CHECK-SAME: %{{.*}}: memref<?x16xf32>, %[[Y:.*]]: memref<?x16xf32>
// CHECK: %[[BYTES:.*]] = arith.muli
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c4194304
// CHECK: scf.if
// CHECK: vector.store %{{.*}}, %[[Y]]{{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: } else {
// CHECK: affine.vector_store
func.func private @light(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 16 step 16 {
      %a = affine.vector_load %x[%i, %j] : memref<?x16xf32>, vector<16xf32>
      affine.vector_store %a, %y[%i, %j] : memref<?x16xf32>, vector<16xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func private @sums(
// CHECK-NOT: scf.if
// CHECK-NOT: nontemporal
// CHECK: affine.vector_store
// CHECK-NOT: affine.vector_store
// CHECK-LABEL: func.func private @last(
func.func private @sums(%x: memref<?x4xf32>, %w: memref<4x16xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  affine.for %i = 0 to %n {
    %s = affine.for %k = 0 to 4 iter_args(%t = %zero) -> (vector<16xf32>) {
      %a = affine.load %x[%i, %k] : memref<?x4xf32>
      %b = vector.broadcast %a : f32 to vector<16xf32>
      %c = affine.vector_load %w[%k, 0] : memref<4x16xf32>, vector<16xf32>
      %r = math.fma %b, %c, %t : vector<16xf32>
      affine.yield %r : vector<16xf32>
    }
    affine.vector_store %s, %y[%i, 0] : memref<?x16xf32>, vector<16xf32>
  }
  return
}
func.func private @last() {
  return
}
