// RUN: dlc-opt %s --affine-trim-fills | filecheck %s
// A fill and the copy over it may be in one loop over images. The pass refuses nothing.

// CHECK-LABEL: func.func private @images(
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[P:.*]] = memref.alloc() : memref<14x66x16xf32>
// CHECK: affine.for %[[N:.*]] = 0 to 14 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[N]], 0, %[[C]]]
// CHECK: affine.for %[[C:.*]] = 0 to 16 {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[N]], 65, %[[C]]]
// CHECK-NOT: affine.store %[[ZERO]]
// CHECK: affine.load %{{.*}} : memref<14x64x16xf32>
func.func private @images(%x: memref<14x64x16xf32>, %y: memref<14x66x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<14x66x16xf32>
  affine.for %n = 0 to 14 {
    affine.for %i = 0 to 66 { affine.for %c = 0 to 16 {
      affine.store %zero, %p[%n, %i, %c] : memref<14x66x16xf32>
    } {dlc.parallel} } {dlc.parallel}
    affine.for %i = 0 to 64 { affine.for %c = 0 to 16 {
      %v = affine.load %x[%n, %i, %c] : memref<14x64x16xf32>
      affine.store %v, %p[%n, %i + 1, %c] : memref<14x66x16xf32>
    } {dlc.parallel} } {dlc.parallel}
  } {dlc.parallel}
  affine.for %n = 0 to 14 { affine.for %i = 0 to 66 { affine.for %c = 0 to 16 {
    %v = affine.load %p[%n, %i, %c] : memref<14x66x16xf32>
    affine.store %v, %y[%n, %i, %c] : memref<14x66x16xf32>
  } {dlc.parallel} } {dlc.parallel} } {dlc.parallel}
  return
}

// no-match: rows are filled, and columns are written.
// CHECK-LABEL: func.func private @columns(
// CHECK: affine.for %{{.*}} = 0 to 66 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 66 {
// CHECK-NEXT: affine.store
func.func private @columns(%x: memref<64x66xf32>, %y: memref<66x66xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<66x66xf32>
  affine.for %n = 0 to 66 {
    affine.for %i = 0 to 66 { affine.store %zero, %p[%n, %i] : memref<66x66xf32> } {dlc.parallel}
    affine.for %i = 0 to 64 { %v = affine.load %x[%i, %n] : memref<64x66xf32>  affine.store %v, %p[%i + 1, %n] : memref<66x66xf32> }
  }
  affine.for %n = 0 to 66 { affine.for %i = 0 to 66 {
    %v = affine.load %p[%n, %i] : memref<66x66xf32>
    affine.store %v, %y[%n, %i] : memref<66x66xf32>
  } {dlc.parallel} } {dlc.parallel}
  return
}

// no-match: in the loop, something reads what is filled first.
// CHECK-LABEL: func.func private @read_between(
// CHECK: affine.for %[[N:.*]] = 0 to 14 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 66 {
// CHECK-NEXT: affine.store
func.func private @read_between(%x: memref<14x64xf32>, %y: memref<14x66xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<14x66xf32>
  affine.for %n = 0 to 14 {
    affine.for %i = 0 to 66 { affine.store %zero, %p[%n, %i] : memref<14x66xf32> } {dlc.parallel}
    affine.for %i = 0 to 66 { %v = affine.load %p[%n, %i] : memref<14x66xf32>  affine.store %v, %y[%n, %i] : memref<14x66xf32> }
    affine.for %i = 0 to 64 { %v = affine.load %x[%n, %i] : memref<14x64xf32>  affine.store %v, %p[%n, %i + 1] : memref<14x66xf32> }
  } {dlc.parallel}
  affine.for %n = 0 to 14 { affine.for %i = 0 to 66 {
    %v = affine.load %p[%n, %i] : memref<14x66xf32>
    affine.store %v, %y[%n, %i] : memref<14x66xf32>
  } {dlc.parallel} } {dlc.parallel}
  return
}
