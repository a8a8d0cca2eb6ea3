// RUN: dlc-opt %s --affine-fuse-nests=explain=true --split-input-file | filecheck %s
// Nests whose iterations pass on what the second-level cache holds become one before others, which would leave them no loops.

// A padded copy passes on more for each image: rows of blocks and the product of them are one first.
// CHECK-LABEL: func.func private @images
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 130 {
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 8 {
// CHECK-NEXT: memref.alloca() : memref<16x256xf32>
// CHECK: return
module attributes {dlc.target = {l2_bytes = 65536 : i64}} {
  func.func private @images(%x: memref<16x128x256xf32>, %w: memref<256x64xf32>, %y: memref<16x128x64xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %p = memref.alloc() : memref<16x130x256xf32>
    %t = memref.alloc() : memref<16x128x256xf32>
    affine.for %b = 0 to 16 {
      affine.for %i = 0 to 130 {
        affine.for %k = 0 to 256 {
          affine.store %zero, %p[%b, %i, %k] : memref<16x130x256xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 16 {
      affine.for %a = 0 to 8 {
        affine.for %i = 0 to 16 {
          affine.for %k = 0 to 256 {
            %0 = affine.load %p[%b, %a * 16 + %i, %k] : memref<16x130x256xf32>
            %1 = affine.load %p[%b, %a * 16 + %i + 2, %k] : memref<16x130x256xf32>
            %2 = arith.addf %0, %1 : f32
            affine.store %2, %t[%b, %a * 16 + %i, %k] : memref<16x128x256xf32>
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 16 {
      affine.for %a = 0 to 8 {
        affine.for %i = 0 to 16 {
          affine.for %n = 0 to 64 {
            %s = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
              %0 = affine.load %t[%b, %a * 16 + %i, %k] : memref<16x128x256xf32>
              %1 = affine.load %w[%k, %n] : memref<256x64xf32>
              %2 = arith.mulf %0, %1 : f32
              %3 = arith.addf %acc, %2 : f32
              affine.yield %3 : f32
            }
            affine.store %s, %y[%b, %a * 16 + %i, %n] : memref<16x128x64xf32>
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<16x128x256xf32>
    memref.dealloc %p : memref<16x130x256xf32>
    return
  }
}

// -----

// no-match: an open number of large images may be one or two.
// CHECK-LABEL: func.func private @open
// CHECK: dlc.fusion_refusal = "the loop has few iterations, each larger than the caches"
func.func private @open(%x: memref<?x1024x512xf32>, %y: memref<?x1024xf32> {llvm.noalias}, %images: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %b = 0 to %images {
    affine.for %i = 0 to 1024 {
      affine.for %k = 0 to 512 {
        affine.store %zero, %x[%b, %i, %k] : memref<?x1024x512xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to %images {
    affine.for %i = 0 to 1022 {
      %0 = affine.load %x[%b, %i + 2, 0] : memref<?x1024x512xf32>
      affine.store %0, %y[%b, %i] : memref<?x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
