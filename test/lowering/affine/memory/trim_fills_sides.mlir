// RUN: dlc-opt %s --affine-trim-fills | filecheck %s
// Padding on both sides of an axis whose size run time knows. The pass refuses nothing.

// What a copy leaves of an open axis, before it and after it: nothing where the sizes turn out to be so.
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[N:[^:]*]]: index, %[[M:[^:]*]]: index
// CHECK: affine.store %[[ZERO:.*]], %[[P:.*]][0]
// CHECK: affine.for %[[I:.*]] = 0 to #[[LEFT:.*]]()[%[[N]], %[[M]]] {
// CHECK-NEXT: affine.store %[[ZERO]], %[[P]][%[[I]] + %[[M]] + 1]
// CHECK: affine.for %{{.*}} = 0 to %[[M]] {
// CHECK-NEXT: affine.load
func.func private @part(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %m: index) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %zero, %p[%i] : memref<?xf32>
  } {dlc.parallel}
  affine.for %i = 0 to %m {
    %v = affine.load %x[%i] : memref<?xf32>
    affine.store %v, %p[%i + 1] : memref<?xf32>
  } {dlc.parallel}
  %v = affine.load %p[0] : memref<?xf32>
  affine.store %v, %y[0] : memref<?xf32>
  memref.dealloc %p : memref<?xf32>
  return
}

// no-match: half of an axis, which is no value itself.
// CHECK-LABEL: func.func private @half(
// CHECK: affine.for %[[I:.*]] = 0 to %{{.*}} {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]]]
// CHECK: affine.load
func.func private @half(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %zero, %p[%i] : memref<?xf32>
  } {dlc.parallel}
  affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 2)>()[%n] {
    %v = affine.load %x[%i] : memref<?xf32>
    affine.store %v, %p[%i] : memref<?xf32>
  } {dlc.parallel}
  %v = affine.load %p[0] : memref<?xf32>
  affine.store %v, %y[0] : memref<?xf32>
  memref.dealloc %p : memref<?xf32>
  return
}
