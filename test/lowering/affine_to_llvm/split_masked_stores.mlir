// RUN: dlc-opt %s --dl-set-target=target=haswell --split-masked-stores | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --split-masked-stores | filecheck %s --check-prefix=MASK
// Known numbers of first lanes are stored as parts where the target has no mask registers. The pass refuses nothing.

// CHECK-LABEL: func.func @seven(
// CHECK-NOT: vector.maskedstore
// CHECK: %[[A:.*]] = vector.shuffle %{{.*}} [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT: vector.store %[[A]], %{{.*}}[%arg2, %arg3] : memref<4x100xf32>, vector<4xf32>
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[THERE:.*]] = arith.addi %arg3, %[[FOUR]]
// CHECK-NEXT: %[[B:.*]] = vector.shuffle %{{.*}} [4, 5] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT: vector.store %[[B]], %{{.*}}[%arg2, %[[THERE]]] : memref<4x100xf32>, vector<2xf32>
// CHECK: %[[C:.*]] = vector.extract %{{.*}}[6] : f32 from vector<8xf32>
// CHECK-NEXT: memref.store %[[C]], %{{.*}} : memref<4x100xf32>
// MASK-LABEL: func.func @seven(
// MASK: vector.maskedstore
func.func @seven(%m: memref<4x100xf32>, %v: vector<8xf32>, %i: index, %j: index) {
  %mask = vector.constant_mask [7] : vector<8xi1>
  vector.maskedstore %m[%i, %j], %mask, %v : memref<4x100xf32>, vector<8xi1>, vector<8xf32>
  return
}

// no-match: how many lanes are stored is not known.
// CHECK-LABEL: func.func @some(
// CHECK: vector.maskedstore
func.func @some(%m: memref<4x100xf32>, %v: vector<8xf32>, %i: index, %j: index) {
  %mask = vector.create_mask %i : vector<8xi1>
  vector.maskedstore %m[%i, %j], %mask, %v : memref<4x100xf32>, vector<8xi1>, vector<8xf32>
  return
}

// no-match: more lanes than all registers hold.
// CHECK-LABEL: func.func @vast(
// CHECK: vector.maskedstore
func.func @vast(%m: memref<?xf32>, %v: vector<4294967296xf32>, %i: index) {
  %mask = vector.constant_mask [4294967295] : vector<4294967296xi1>
  vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<4294967296xi1>, vector<4294967296xf32>
  return
}

// A buffer without axes has no place for parts.
// CHECK-LABEL: func.func @no_axes
// CHECK: vector.maskedstore
func.func @no_axes(%x: memref<f32>, %v: vector<8xf32>) {
  %m = vector.constant_mask [3] : vector<8xi1>
  vector.maskedstore %x[], %m, %v : memref<f32>, vector<8xi1>, vector<8xf32>
  return
}
