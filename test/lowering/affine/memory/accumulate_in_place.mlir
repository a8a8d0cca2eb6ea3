// RUN: dlc-opt %s --affine-accumulate-in-place --split-input-file | filecheck %s
// The pass refuses nothing.

// A sum in a local element goes where it is stored at the end.
// CHECK-LABEL: func.func @product
// CHECK-SAME: memref<8x8xf32> {llvm.noalias}, %[[C:.*]]: memref<8xf32> {llvm.noalias}, %[[X:.*]]: f32
// CHECK-NOT: memref.alloca
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK:   affine.store %[[X]], %[[C]][%[[I]]]
// CHECK:   affine.for
// CHECK:     affine.load %[[C]][%[[I]]]
// CHECK:     affine.store %{{.*}}, %[[C]][%[[I]]]
// CHECK:   }
// CHECK-NEXT: }
func.func @product(%A: memref<8x8xf32> {llvm.noalias}, %C: memref<8xf32> {llvm.noalias}, %x: f32) {
  affine.for %i = 0 to 8 {
    %w = memref.alloca() : memref<f32>
    affine.store %x, %w[] : memref<f32>
    affine.for %k = 0 to 8 {
      %a = affine.load %A[%i, %k] : memref<8x8xf32>
      %b = affine.load %w[] : memref<f32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %w[] : memref<f32>
    }
    %s = affine.load %w[] : memref<f32>
    affine.store %s, %C[%i] : memref<8xf32>
  }
  return
}

// -----

// It begins with what is there, elements before it are read on the way, and the end computes: the copy at the beginning goes.
// CHECK-LABEL: func.func @solve
// CHECK-NOT: memref.alloca
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to #
// CHECK:        affine.load %{{.*}}[%[[K]]]
// CHECK:        affine.load %[[B:.*]][%[[I]]]
// CHECK:        affine.store %{{.*}}, %[[B]][%[[I]]]
// CHECK:      %[[S:.*]] = affine.load %[[B]][%[[I]]]
// CHECK:      %[[E:.*]] = arith.divf %[[S]]
// CHECK:      affine.store %[[E]], %[[B]][%[[I]]]
func.func @solve(%B: memref<8xf64> {llvm.noalias}, %d: f64) {
  affine.for %i = 0 to 8 {
    %w = memref.alloca() : memref<f64>
    %first = affine.load %B[%i] : memref<8xf64>
    affine.store %first, %w[] : memref<f64>
    affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) {
      %a = affine.load %B[%k] : memref<8xf64>
      %b = affine.load %w[] : memref<f64>
      %s = arith.subf %b, %a : f64
      affine.store %s, %w[] : memref<f64>
    }
    %s = affine.load %w[] : memref<f64>
    %e = arith.divf %s, %d : f64
    affine.store %e, %B[%i] : memref<8xf64>
  }
  return
}

// -----

// One element is stored to another: both go.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: memref.alloca
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK-NEXT: affine.store %{{.*}}, %[[B:.*]][%[[I]]]
// CHECK:      %[[V:.*]] = affine.load %[[B]][%[[I]]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[V]]
// CHECK-NEXT: affine.store %[[S]], %[[B]][%[[I]]]
func.func @chain(%B: memref<8xf64> {llvm.noalias}, %d: f64) {
  affine.for %i = 0 to 8 {
    %v = memref.alloca() : memref<f64>
    %w = memref.alloca() : memref<f64>
    affine.store %d, %v[] : memref<f64>
    %a = affine.load %v[] : memref<f64>
    affine.store %a, %w[] : memref<f64>
    %b = affine.load %w[] : memref<f64>
    %s = arith.addf %b, %d : f64
    affine.store %s, %B[%i] : memref<8xf64>
  }
  return
}

// -----

// no-match: the element is read on the way as it was before; two values come from the last load.
// CHECK-LABEL: func.func @read
// CHECK: memref.alloca
// CHECK-LABEL: func.func @two
// CHECK: memref.alloca
func.func @read(%B: memref<8xf64> {llvm.noalias}, %d: f64) {
  affine.for %i = 0 to 8 {
    %w = memref.alloca() : memref<f64>
    affine.store %d, %w[] : memref<f64>
    affine.for %k = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      %a = affine.load %B[%k] : memref<8xf64>
      %b = affine.load %w[] : memref<f64>
      %s = arith.subf %b, %a : f64
      affine.store %s, %w[] : memref<f64>
    }
    %s = affine.load %w[] : memref<f64>
    affine.store %s, %B[%i] : memref<8xf64>
  }
  return
}
func.func @two(%B: memref<8xf64> {llvm.noalias}, %C: memref<8xf64> {llvm.noalias}, %d: f64) {
  affine.for %i = 0 to 8 {
    %w = memref.alloca() : memref<f64>
    affine.store %d, %w[] : memref<f64>
    %s = affine.load %w[] : memref<f64>
    affine.store %s, %B[%i] : memref<8xf64>
    affine.store %s, %C[%i] : memref<8xf64>
  }
  return
}
