// RUN: dlc-opt %s --affine-flatten-accesses | filecheck %s
// Accesses of buffers in row-major order count elements from the first one. The pass refuses nothing.

// Two accesses of a block have all but a constant in common.
// CHECK: #[[BASE:[a-z0-9_]*]] = affine_map<(d0, d1) -> (d0 * 8 + d1)>
// CHECK: #[[OPEN:[a-z0-9_]*]] = affine_map<(d0, d1) -> (d0 * 15 + d1 * 5)>
// CHECK: #[[MOD:[a-z0-9_]*]] = affine_map<(d0) -> ((d0 mod 4) * 8)>
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[M:.*]]: memref<4x8xf32>) {
// CHECK: %[[N:.*]] = memref.collapse_shape %[[M]] {{\[}}[0, 1]] : memref<4x8xf32> into memref<32xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: affine.for %[[J:.*]] = 0 to 4 {
// CHECK: %[[B:.*]] = affine.apply #[[BASE]](%[[I]], %[[J]])
// CHECK: %[[V:.*]] = affine.load %[[N]][%[[B]] + 10] : memref<32xf32>
// CHECK: affine.store %[[V]], %[[N]][%[[B]]] : memref<32xf32>
func.func @shared(%m: memref<4x8xf32>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 4 {
      %v = affine.load %m[%i + 1, %j + 2] : memref<4x8xf32>
      affine.store %v, %m[%i, %j] : memref<4x8xf32>
    }
  }
  return
}

// The outermost size may be unknown, and a place may be a constant.
// CHECK-LABEL: func.func @open(
// CHECK: memref.collapse_shape {{.*}} : memref<?x3x5xf32> into memref<?xf32>
// CHECK: %[[B:.*]] = affine.apply #[[OPEN]](
// CHECK: affine.vector_load %{{.*}}[%[[B]] + 1] : memref<?xf32>, vector<4xf32>
// CHECK: affine.vector_store %{{.*}}, %{{.*}}[36] : memref<?xf32>, vector<4xf32>
func.func @open(%m: memref<?x3x5xf32>, %n: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 3 {
      %v = affine.vector_load %m[%i, %j, 1] : memref<?x3x5xf32>, vector<4xf32>
      affine.vector_store %v, %m[2, 1, 1] : memref<?x3x5xf32>, vector<4xf32>
    }
  }
  return
}

// What is not linear is computed once, too; a subscript that is a loop's variable stays.
// CHECK-LABEL: func.func @modulo(
// CHECK: %[[B:.*]] = affine.apply #[[MOD]](%{{.*}})
// CHECK: affine.load %{{.*}}[%[[B]] + 1] : memref<32xf32>
// CHECK: affine.store %{{.*}}, %arg1[%{{.*}} + 2] : memref<12xf32>
func.func @modulo(%m: memref<4x8xf32>, %y: memref<12xf32>) {
  affine.for %i = 0 to 9 {
    %v = affine.load %m[%i mod 4, 1] : memref<4x8xf32>
    affine.store %v, %y[%i + 2] : memref<12xf32>
  }
  return
}

// no match: strides that are not known, another layout than row-major, no subscript, and vectors of two dimensions.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: memref.collapse_shape %arg{{[0-2]}}
// CHECK: affine.load %arg0[2, 3] : memref<4x?xf32>
// CHECK: affine.load %arg1[2, 3] : memref<4x8xf32, strided<[1, 4]>>
// CHECK: affine.load %arg2[] : memref<f32>
// CHECK: affine.vector_load %arg3[1, 0] : memref<4x8xf32>, vector<2x8xf32>
func.func @others(%a: memref<4x?xf32>, %b: memref<4x8xf32, strided<[1, 4]>>, %c: memref<f32>, %d: memref<4x8xf32>)
    -> (f32, f32, f32, vector<2x8xf32>) {
  %0 = affine.load %a[2, 3] : memref<4x?xf32>
  %1 = affine.load %b[2, 3] : memref<4x8xf32, strided<[1, 4]>>
  %2 = affine.load %c[] : memref<f32>
  %3 = affine.vector_load %d[1, 0] : memref<4x8xf32>, vector<2x8xf32>
  return %0, %1, %2, %3 : f32, f32, f32, vector<2x8xf32>
}
