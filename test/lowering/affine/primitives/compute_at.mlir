// RUN: dlc-opt %s "--affine-compute-at=statements=S0 loop=i" --split-input-file --verify-diagnostics | filecheck %s
// Rows are computed where they are first needed, in a window of three; a statement without a reader is refused.

// CHECK-LABEL: func.func @blur(
// CHECK-SAME: %[[ARG1:.*]]: memref<34x16xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<32x16xf32> {llvm.noalias}) {
// CHECK: %[[V3:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3x16xf32>
// CHECK: affine.for %[[I4:.*]] = -2 to 0 {
// CHECK: affine.for %[[I5:.*]] = 0 to 16 {
// CHECK: %[[V6:.*]] = affine.load %[[ARG1]][%[[I4]] + 2, %[[I5]]] : memref<34x16xf32>
// CHECK: %[[V7:.*]] = arith.addf %[[V6]], %[[V6]] : f32
// CHECK: affine.store %[[V7]], %[[V3]][%[[I4]] + 2, %[[I5]]] : memref<3x16xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: affine.for %[[I8:.*]] = 0 to 32 {
// CHECK: affine.for %[[I9:.*]] = 0 to 16 {
// CHECK: %[[V10:.*]] = affine.load %[[ARG1]][%[[I8]] + 2, %[[I9]]] : memref<34x16xf32>
// CHECK: %[[V11:.*]] = arith.addf %[[V10]], %[[V10]] : f32
// CHECK: affine.store %[[V11]], %[[V3]][(%[[I8]] + 2) mod 3, %[[I9]]] : memref<3x16xf32>
// CHECK: affine.for %[[I12:.*]] = 0 to 16 {
// CHECK: %[[V13:.*]] = affine.load %[[V3]][%[[I8]] mod 3, %[[I12]]] : memref<3x16xf32>
// CHECK: %[[V14:.*]] = affine.load %[[V3]][(%[[I8]] + 2) mod 3, %[[I12]]] : memref<3x16xf32>
// CHECK: %[[V15:.*]] = arith.mulf %[[V13]], %[[V14]] : f32
// CHECK: affine.store %[[V15]], %[[ARG2]][%[[I8]], %[[I12]]] : memref<32x16xf32>
// CHECK: } {dlc.name = "i.2"}
// CHECK: return
func.func @blur(%A: memref<34x16xf32> {llvm.noalias}, %C: memref<32x16xf32> {llvm.noalias}) {
  %rows = memref.alloc() : memref<34x16xf32>
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 16 {
      %a = affine.load %A[%i, %j] : memref<34x16xf32>
      %b = arith.addf %a, %a : f32
      affine.store %b, %rows[%i, %j] : memref<34x16xf32>
    }
  }
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 16 {
      %x = affine.load %rows[%i, %j] : memref<34x16xf32>
      %y = affine.load %rows[%i + 2, %j] : memref<34x16xf32>
      %z = arith.mulf %x, %y : f32
      affine.store %z, %C[%i, %j] : memref<32x16xf32>
    }
  } {dlc.name = "i"}
  memref.dealloc %rows : memref<34x16xf32>
  return
}

// -----

func.func @refused(%A: memref<32xf32> {llvm.noalias}, %B: memref<32xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 1 {
      %a = affine.load %A[%i] : memref<32xf32>
      // expected-error@below {{nothing in loop 'i' reads what S0 computes; name a loop around its consumer}}
      affine.store %a, %B[%i] : memref<32xf32>
    }
  }
  affine.for %i = 0 to 32 {
    affine.store %zero, %B[%i] : memref<32xf32>
  } {dlc.name = "i"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}
