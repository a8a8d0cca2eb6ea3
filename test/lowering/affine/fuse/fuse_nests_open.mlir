// RUN: dlc-opt %s --affine-fuse-nests=explain=true --split-input-file | filecheck %s
// Nests of an open number of blocks may pass on more than any cache holds: they are one wherever a block stays in the caches.
// It refuses nothing.

// CHECK-LABEL: func.func private @rows
// CHECK: affine.for %[[B:.*]] = 0 to %{{.*}} {
// CHECK-NEXT: %[[T:.*]] = memref.alloc(%[[N:.*]]) : memref<16x?xf32>
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: affine.store %{{.*}}, %[[T]]
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: affine.load %[[T]]
// CHECK: memref.dealloc %[[T]]
func.func private @rows(%x: memref<?x64xf32>, %w: memref<64x?xf32>, %y: memref<?xf32> {llvm.noalias}, %blocks: index) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %n = memref.dim %w, %c1 : memref<64x?xf32>
  %t = memref.alloc(%rows, %n) : memref<?x?xf32>
  affine.for %b = 0 to %blocks {
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to %n {
        %s = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
          %0 = affine.load %x[%b * 16 + %i, %k] : memref<?x64xf32>
          %1 = affine.load %w[%k, %j] : memref<64x?xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %t[%b * 16 + %i, %j] : memref<?x?xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to %blocks {
    affine.for %i = 0 to 16 {
      %s = affine.for %j = 0 to %n iter_args(%acc = %zero) -> (f32) {
        %0 = affine.load %t[%b * 16 + %i, %j] : memref<?x?xf32>
        %1 = arith.maximumf %acc, %0 : f32
        affine.yield %1 : f32
      }
      affine.store %s, %y[%b * 16 + %i] : memref<?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<?x?xf32>
  return
}

// -----

// no-match: four blocks pass on what the first-level cache holds.
// CHECK-LABEL: func.func private @few
// CHECK: dlc.fusion_refusal = "a contraction uses values again across the loop"
func.func private @few(%x: memref<64x64xf32>, %w: memref<64x32xf32>, %y: memref<64xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<64x32xf32>
  affine.for %b = 0 to 4 {
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to 32 {
        %s = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
          %0 = affine.load %x[%b * 16 + %i, %k] : memref<64x64xf32>
          %1 = affine.load %w[%k, %j] : memref<64x32xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %t[%b * 16 + %i, %j] : memref<64x32xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to 4 {
    affine.for %i = 0 to 16 {
      %s = affine.for %j = 0 to 32 iter_args(%acc = %zero) -> (f32) {
        %0 = affine.load %t[%b * 16 + %i, %j] : memref<64x32xf32>
        %1 = arith.maximumf %acc, %0 : f32
        affine.yield %1 : f32
      }
      affine.store %s, %y[%b * 16 + %i] : memref<64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<64x32xf32>
  return
}
