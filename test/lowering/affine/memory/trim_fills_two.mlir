// RUN: dlc-opt %s --affine-trim-fills | filecheck %s
// Rows are shifted both ways, as a concatenation of neighbours has them: the fills of both buffers go. The pass refuses nothing.

// CHECK-LABEL: func.func private @shifted_both_ways(
// CHECK-SAME: %[[X:.*]]: memref<?x?x16xf32>, %{{.*}}: memref<?x?x16xf32>, %{{.*}}: index, %[[M:.*]]: index, %{{.*}}: index
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to
// CHECK: affine.store %[[ZERO]], %[[A]][%[[I]], %[[M]] + %{{.*}}
// CHECK: affine.load %[[X]]
// CHECK: affine.store %[[ZERO]], %[[B]][%{{.*}}, 0, %{{.*}}]
// CHECK: affine.store %[[ZERO]], %[[B]][%{{.*}}, %{{.*}} + %[[M]] + 1
// CHECK-NOT: affine.store %[[ZERO]]
// CHECK: affine.load %[[X]]
// CHECK: affine.load %[[A]]
// CHECK: affine.load %[[B]]
func.func private @shifted_both_ways(%x: memref<?x?x16xf32>, %y: memref<?x?x16xf32>, %n: index, %m: index, %k: index) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n, %k) : memref<?x?x16xf32>
  %b = memref.alloc(%n, %k) : memref<?x?x16xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %k {
      affine.for %c = 0 to 16 {
        affine.store %zero, %a[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %c = 0 to 16 {
        %v = affine.load %x[%i, %j, %c] : memref<?x?x16xf32>
        affine.store %v, %a[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %k {
      affine.for %c = 0 to 16 {
        affine.store %zero, %b[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %c = 0 to 16 {
        %v = affine.load %x[%i, %j, %c] : memref<?x?x16xf32>
        affine.store %v, %b[%i, %j + 1, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %k {
      affine.for %c = 0 to 16 {
        %v = affine.load %a[%i, %j, %c] : memref<?x?x16xf32>
        %w = affine.load %b[%i, %j, %c] : memref<?x?x16xf32>
        %s = arith.addf %v, %w : f32
        affine.store %s, %y[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
