// RUN: dlc-opt %s --affine-trim-fills | filecheck %s
// Images of an open number are padded around each (no-match: trim_fills_sides.mlir). The pass refuses nothing.

// CHECK-LABEL: func.func private @images(
// CHECK-SAME: %{{.*}}: memref<?x32x16xf32>, %{{.*}}: memref<?x34x16xf32>, %[[N:.*]]: index
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[P:.*]] = memref.alloc(%[[N]])
// CHECK: affine.for %[[I:.*]] = 0 to %[[N]] {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[I]], 0, %[[C]]]
// CHECK: affine.for %[[I:.*]] = 0 to %[[N]] {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[I]], 33, %[[C]]]
// CHECK-NOT: affine.store %[[ZERO]]
// CHECK: affine.load %{{.*}} : memref<?x32x16xf32>
func.func private @images(%x: memref<?x32x16xf32>, %y: memref<?x34x16xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n) : memref<?x34x16xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 34 {
      affine.for %c = 0 to 16 {
        affine.store %zero, %p[%i, %j, %c] : memref<?x34x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 32 {
      affine.for %c = 0 to 16 {
        %v = affine.load %x[%i, %j, %c] : memref<?x32x16xf32>
        affine.store %v, %p[%i, %j + 1, %c] : memref<?x34x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 34 {
      affine.for %c = 0 to 16 {
        %v = affine.load %p[%i, %j, %c] : memref<?x34x16xf32>
        affine.store %v, %y[%i, %j, %c] : memref<?x34x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<?x34x16xf32>
  return
}
