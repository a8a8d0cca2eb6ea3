// RUN: dlc-opt %s --affine-fuse-nests=explain=true --split-input-file | filecheck %s
// no-match: nests stay apart where an iteration of one may touch what another iteration of the other touches, or where the
// fused loop would run slower; each says why.

// The second nest reads a neighbour of what the first writes.
// CHECK-LABEL: func.func private @shifted
// CHECK-COUNT-2: affine.for
// CHECK: dlc.fusion_refusal = "'affine.store' of memref<9xf32> may touch what another iteration of the other nest touches"
func.func private @shifted(%x: memref<8xf32>, %t: memref<9xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %t[%i] : memref<9xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[%i + 1] : memref<9xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// -----

// Both loops have the same bounds, but the second nest reads the transpose.
// CHECK-LABEL: func.func private @reversed
// CHECK-COUNT-2: affine.for
// CHECK: dlc.fusion_refusal = "'affine.store' of memref<8xf32> may touch
func.func private @reversed(%t: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[7 - %i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// -----

// Arguments that are not known to be apart may be one buffer.
// CHECK-LABEL: func.func private @aliases
// CHECK-COUNT-2: affine.for
// CHECK: dlc.fusion_refusal = "'affine.store' of memref<8xf32> may touch
func.func private @aliases(%t: memref<8xf32>, %y: memref<9xf32>) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<9xf32>
  } {dlc.parallel}
  return
}

// -----

// CHECK-LABEL: func.func private @bounds
// CHECK-COUNT-2: affine.for
// CHECK: dlc.fusion_refusal = "no two of their loops have the same bounds"
func.func private @bounds(%t: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 7 {
    %0 = affine.load %t[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// -----

// The product reads each row of %t for all its columns: fused with what makes the row, it would lose its tile.
// CHECK-LABEL: func.func private @prologue
// CHECK-COUNT-5: affine.for
// CHECK: dlc.fusion_refusal = "a contraction uses values again across the loop"
func.func private @prologue(%x: memref<8x4xf32>, %w: memref<4x6xf32>, %t: memref<8x4xf32> {llvm.noalias}, %y: memref<8x6xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %m = 0 to 8 {
    affine.for %k = 0 to 4 {
      %0 = affine.load %x[%m, %k] : memref<8x4xf32>
      %1 = math.exp %0 : f32
      affine.store %1, %t[%m, %k] : memref<8x4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %m = 0 to 8 {
    affine.for %n = 0 to 6 {
      %s = affine.for %k = 0 to 4 iter_args(%acc = %zero) -> (f32) {
        %0 = affine.load %t[%m, %k] : memref<8x4xf32>
        %1 = affine.load %w[%k, %n] : memref<4x6xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %acc, %2 : f32
        affine.yield %3 : f32
      }
      affine.store %s, %y[%m, %n] : memref<8x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// A factor for each channel: fused with the whole of y, the loop over channels would come first.
// CHECK-LABEL: func.func private @channels
// CHECK-COUNT-3: affine.for
// CHECK: dlc.fusion_refusal = "the loop runs along contiguous memory"
func.func private @channels(%s: memref<32xf32>, %f: memref<32xf32> {llvm.noalias}, %y: memref<64x32xf32> {llvm.noalias}) {
  affine.for %c = 0 to 32 {
    %0 = affine.load %s[%c] : memref<32xf32>
    %1 = math.sqrt %0 : f32
    affine.store %1, %f[%c] : memref<32xf32>
  } {dlc.parallel}
  affine.for %p = 0 to 64 {
    affine.for %c = 0 to 32 {
      %0 = affine.load %y[%p, %c] : memref<64x32xf32>
      %1 = affine.load %f[%c] : memref<32xf32>
      %2 = arith.mulf %0, %1 : f32
      affine.store %2, %y[%p, %c] : memref<64x32xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// What stands between the nests reads what the first writes and writes what the second reads.
// CHECK-LABEL: func.func private @between
// CHECK: affine.for
// CHECK: memref.copy
// CHECK: affine.for
func.func private @between(%t: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  memref.copy %t, %y : memref<8xf32> to memref<8xf32>
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    affine.store %0, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// -----

// Loops whose iterations are not independent keep their order.
// CHECK-LABEL: func.func private @ordered
// CHECK-COUNT-2: affine.for
func.func private @ordered(%t: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[%i] : memref<8xf32>
    affine.store %0, %y[0] : memref<8xf32>
  }
  return
}
