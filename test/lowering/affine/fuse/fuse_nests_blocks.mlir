// RUN: dlc-opt %s --affine-fuse-nests=explain=true --split-input-file | filecheck %s
// A loop over blocks of a contraction becomes one with that of its producer where what passes between them then stays in the cache.

// CHECK-LABEL: func.func private @blocks
// CHECK: affine.for %{{.*}} = 0 to 8 {
// CHECK-NEXT: memref.alloc{{.*}} : memref<64x256xf32>
// CHECK: return
module attributes {dlc.target = {l2_bytes = 262144 : i64}} {
  func.func private @blocks(%x: memref<8x64x256xf32>, %w: memref<256x64xf32>, %y: memref<8x64x64xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<8x64x256xf32>
    affine.for %b = 0 to 8 {
      affine.for %i = 0 to 64 {
        affine.for %k = 0 to 256 {
          %0 = affine.load %x[%b, %i, %k] : memref<8x64x256xf32>
          %1 = arith.addf %0, %0 : f32
          affine.store %1, %t[%b, %i, %k] : memref<8x64x256xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 8 {
      affine.for %i = 0 to 64 {
        affine.for %n = 0 to 64 {
          %s = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %t[%b, %i, %k] : memref<8x64x256xf32>
            %1 = affine.load %w[%k, %n] : memref<256x64xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<8x64x64xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<8x64x256xf32>
    return
  }
}

// -----

// no-match: all of it stays in the cache anyway.
// CHECK-LABEL: func.func private @small
// CHECK: dlc.fusion_refusal = "a contraction uses values again across the loop"
module attributes {dlc.target = {l2_bytes = 2097152 : i64}} {
  func.func private @small(%x: memref<8x64x256xf32>, %w: memref<256x64xf32>, %y: memref<8x64x64xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<8x64x256xf32>
    affine.for %b = 0 to 8 {
      affine.for %i = 0 to 64 {
        affine.for %k = 0 to 256 {
          %0 = affine.load %x[%b, %i, %k] : memref<8x64x256xf32>
          affine.store %0, %t[%b, %i, %k] : memref<8x64x256xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 8 {
      affine.for %i = 0 to 64 {
        affine.for %n = 0 to 64 {
          %s = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %t[%b, %i, %k] : memref<8x64x256xf32>
            %1 = affine.load %w[%k, %n] : memref<256x64xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<8x64x64xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<8x64x256xf32>
    return
  }
}

// -----

// no-match: a block of four rows would use each value of the matrix four times only.
// CHECK-LABEL: func.func private @rows
// CHECK: dlc.fusion_refusal = "a contraction uses values again across the loop"
module attributes {dlc.target = {l2_bytes = 262144 : i64}} {
  func.func private @rows(%x: memref<128x4x256xf32>, %w: memref<256x64xf32>, %y: memref<128x4x64xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<128x4x256xf32>
    affine.for %b = 0 to 128 {
      affine.for %i = 0 to 4 {
        affine.for %k = 0 to 256 {
          %0 = affine.load %x[%b, %i, %k] : memref<128x4x256xf32>
          affine.store %0, %t[%b, %i, %k] : memref<128x4x256xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 128 {
      affine.for %i = 0 to 4 {
        affine.for %n = 0 to 64 {
          %s = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %t[%b, %i, %k] : memref<128x4x256xf32>
            %1 = affine.load %w[%k, %n] : memref<256x64xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<128x4x64xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<128x4x256xf32>
    return
  }
}

// -----

// The matrix comes from the third-level cache for each block of 16 rows, while vectors of 256 bits are multiplied.
// CHECK-LABEL: func.func private @streamed
// CHECK: affine.for %{{.*}} = 0 to 32 {
// CHECK-NEXT: memref.alloca() : memref<16x512xf32>
module attributes {dlc.target = {features = ["avx", "fma"], fma_ports = 2 : i64, l2_bytes = 262144 : i64, l3_bytes = 8388608 : i64}} {
  func.func private @streamed(%x: memref<32x16x512xf32>, %w: memref<512x512xf32>, %y: memref<32x16x512xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<32x16x512xf32>
    affine.for %b = 0 to 32 {
      affine.for %i = 0 to 16 {
        affine.for %k = 0 to 512 {
          %0 = affine.load %x[%b, %i, %k] : memref<32x16x512xf32>
          %1 = arith.addf %0, %0 : f32
          affine.store %1, %t[%b, %i, %k] : memref<32x16x512xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 32 {
      affine.for %i = 0 to 16 {
        affine.for %n = 0 to 512 {
          %s = affine.for %k = 0 to 512 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %t[%b, %i, %k] : memref<32x16x512xf32>
            %1 = affine.load %w[%k, %n] : memref<512x512xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<32x16x512xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<32x16x512xf32>
    return
  }
}

// -----

// no-match: 16 rows of vectors of 512 bits are multiplied before the matrix is there.
// CHECK-LABEL: func.func private @waits
// CHECK: dlc.fusion_refusal = "a contraction uses values again across the loop"
module attributes {dlc.target = {features = ["avx512f"], fma_ports = 2 : i64, l2_bytes = 262144 : i64, l3_bytes = 8388608 : i64}} {
  func.func private @waits(%x: memref<32x16x512xf32>, %w: memref<512x512xf32>, %y: memref<32x16x512xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<32x16x512xf32>
    affine.for %b = 0 to 32 {
      affine.for %i = 0 to 16 {
        affine.for %k = 0 to 512 {
          %0 = affine.load %x[%b, %i, %k] : memref<32x16x512xf32>
          %1 = arith.addf %0, %0 : f32
          affine.store %1, %t[%b, %i, %k] : memref<32x16x512xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 32 {
      affine.for %i = 0 to 16 {
        affine.for %n = 0 to 512 {
          %s = affine.for %k = 0 to 512 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %t[%b, %i, %k] : memref<32x16x512xf32>
            %1 = affine.load %w[%k, %n] : memref<512x512xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<32x16x512xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<32x16x512xf32>
    return
  }
}
