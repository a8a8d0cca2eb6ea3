// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-map-to-gpu --split-input-file | filecheck %s

// Rows of %arg0 are read along the threads of a warp, and rows of %arg1 written; a row of the panel has a word more, so that a warp
// reads its column in 32 banks.
// CHECK-LABEL: func.func @transpose
// CHECK: affine.for %[[BY:.*]] = 0 to 32 {
// CHECK:   affine.for %[[BX:.*]] = 0 to 32 {
// CHECK:     %[[P:.*]] = memref.alloca(){{.*}} : memref<32x33xf32>
// CHECK:     affine.for %[[TY:.*]] = 0 to 8 {
// CHECK:       affine.for %[[TX:.*]] = 0 to 32 {
// CHECK:         affine.load %arg0[%[[TY]] + %{{.*}} * 8, %[[BY]] * 32 + %[[TX]]]
// CHECK:         affine.store %{{.*}}, %[[P]][%[[BX]] * -32 + %[[TY]] + %{{.*}} * 8, %[[TX]]]
// CHECK:     affine.for %[[TY:.*]] = 0 to 8 {
// CHECK:       affine.for %[[TX:.*]] = 0 to 32 {
// CHECK:         affine.for %[[R:.*]] = 0 to 4 {
// CHECK:           affine.load %[[P]][%[[TX]], %[[TY]] + %[[R]] * 8]
// CHECK:           affine.load %arg2[%[[BX]] * 32 + %[[TX]]]
// CHECK:           affine.store %{{.*}}, %arg1[%[[BY]] * 32 + %[[TY]] + %[[R]] * 8, %[[BX]] * 32 + %[[TX]]]
// CHECK: } {dlc.name = "kernel0.block.y", dlc.parallel}
func.func @transpose(%A: memref<1024x1024xf32> {llvm.noalias}, %B: memref<1024x1024xf32> {llvm.noalias}, %d: memref<1024xf32> {llvm.noalias}) {
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %a = affine.load %A[%j, %i] : memref<1024x1024xf32>
      %e = affine.load %d[%j] : memref<1024xf32>
      %b = arith.addf %a, %e : f32
      affine.store %b, %B[%i, %j] : memref<1024x1024xf32>
    }
  }
  return
}

// -----

// Three channels are too few for a warp: it goes along pixels and channels of the result. What is copied lies in rows of 32 pixels.
// CHECK-LABEL: func.func @channels_last
// CHECK: %[[P:.*]] = memref.alloca(){{.*}} : memref<2x3x43xf32>
// CHECK: affine.for %[[N:.*]] = 0 to 2 {
// CHECK:   affine.for %[[TX:.*]] = 0 to 96 {
// CHECK:     affine.store %{{.*}}, %[[P]][%[[N]], %[[TX]] floordiv 32, %[[TX]] mod 32]
// CHECK: affine.for %[[N:.*]] = 0 to 2 {
// CHECK:   affine.for %[[TX:.*]] = 0 to 96 {
// CHECK:     affine.load %[[P]][%[[N]], %[[TX]] mod 3, %[[TX]] floordiv 3]
// CHECK:     affine.store %{{.*}}, %arg1[{{.*}}, %{{.*}} * 32 + %[[TX]] floordiv 3, %[[TX]] mod 3]
func.func @channels_last(%A: memref<8x3x4096xf32> {llvm.noalias}, %B: memref<8x4096x3xf32> {llvm.noalias}) {
  affine.for %n = 0 to 8 {
    affine.for %p = 0 to 4096 {
      affine.for %c = 0 to 3 {
        %a = affine.load %A[%n, %c, %p] : memref<8x3x4096xf32>
        affine.store %a, %B[%n, %p, %c] : memref<8x4096x3xf32>
      }
    }
  }
  return
}

// -----

// no-match: what is read twice and written lies along the same loop, and the other array is read where it is written.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @rows(%A: memref<512x512xf32> {llvm.noalias}, %B: memref<512x512xf32> {llvm.noalias}) {
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 511 {
      %a = affine.load %A[%i, %j] : memref<512x512xf32>
      %n = affine.load %A[%i, %j + 1] : memref<512x512xf32>
      %b = affine.load %B[%i, %j] : memref<512x512xf32>
      %s = arith.addf %a, %n : f32
      %t = arith.addf %s, %b : f32
      affine.store %t, %B[%i, %j] : memref<512x512xf32>
    }
  }
  return
}
