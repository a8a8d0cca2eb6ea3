// RUN: dlc-opt %s --affine-trim-fills | filecheck %s
// What a copy overwrites is not filled before. The pass refuses nothing.

// Rows above and below, then columns left and right of the rows between.
// CHECK-LABEL: func.func private @padded(
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[P:.*]] = memref.alloc()
// CHECK: affine.for %[[J:.*]] = 0 to 34 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][0, %[[J]], %[[C]]]
// CHECK: affine.store %[[ZERO]], %[[P]][33, %{{.*}}, %{{.*}}]
// CHECK: affine.for %[[I:.*]] = 0 to 32 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[I]] + 1, 0, %[[C]]]
// CHECK: affine.store %[[ZERO]], %[[P]][%{{.*}} + 1, 33, %{{.*}}]
// CHECK-NOT: affine.store %[[ZERO]]
// CHECK: affine.load %{{.*}} : memref<32x32x16xf32>
func.func private @padded(%x: memref<32x32x16xf32>, %y: memref<34x34x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<34x34x16xf32>
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 34 {
      affine.for %c = 0 to 16 {
        affine.store %zero, %p[%i, %j, %c] : memref<34x34x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %inside = memref.subview %p[1, 1, 0] [32, 32, 16] [1, 1, 1] : memref<34x34x16xf32> to memref<32x32x16xf32, strided<[544, 16, 1], offset: 560>>
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      affine.for %c = 0 to 16 {
        %v = affine.load %x[%i, %j, %c] : memref<32x32x16xf32>
        affine.store %v, %inside[%i, %j, %c] : memref<32x32x16xf32, strided<[544, 16, 1], offset: 560>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 34 {
      affine.for %c = 0 to 16 {
        %v = affine.load %p[%i, %j, %c] : memref<34x34x16xf32>
        affine.store %v, %y[%i, %j, %c] : memref<34x34x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<34x34x16xf32>
  return
}

// no-match: the buffer is read before it is written again.
// CHECK-LABEL: func.func private @read_before(
// CHECK: affine.for %{{.*}} = 0 to 64 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<64xf32>
func.func private @read_before(%x: memref<62xf32>, %y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<64xf32>
  affine.for %i = 0 to 64 {
    affine.store %zero, %p[%i] : memref<64xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    %v = affine.load %p[%i] : memref<64xf32>
    affine.store %v, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 62 {
    %v = affine.load %x[%i] : memref<62xf32>
    affine.store %v, %p[%i + 1] : memref<64xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    %v = affine.load %p[%i] : memref<64xf32>
    affine.store %v, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  return
}

// no-match: the border is half of the buffer, and a box that is written under a condition.
// CHECK-LABEL: func.func private @left(
// CHECK: affine.for %{{.*}} = 0 to 4 {
// CHECK: affine.for %{{.*}} = 0 to 6 {
// CHECK-NEXT: affine.store
// CHECK: affine.for %{{.*}} = 0 to 66 {
// CHECK-NEXT: affine.store
func.func private @left(%x: memref<64xf32>, %y: memref<66xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<4x6xf32>
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 6 {
      affine.store %zero, %p[%i, %j] : memref<4x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 4 {
      %v = affine.load %x[%i + %j] : memref<64xf32>
      affine.store %v, %p[%i + 1, %j + 1] : memref<4x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  %v = affine.load %p[1, 1] : memref<4x6xf32>
  %q = memref.alloc() : memref<66xf32>
  affine.for %i = 0 to 66 {
    affine.store %zero, %q[%i] : memref<66xf32>
  } {dlc.parallel}
  affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] {
    affine.for %i = 0 to 64 {
      affine.store %v, %q[%i + 1] : memref<66xf32>
    } {dlc.parallel}
  }
  affine.for %i = 0 to 66 {
    %w = affine.load %q[%i] : memref<66xf32>
    affine.store %w, %y[%i] : memref<66xf32>
  } {dlc.parallel}
  return
}
