// RUN: dlc-opt %s "--affine-pack-buffer=array=A1 loop=j" --split-input-file --verify-diagnostics | filecheck %s
// A column is copied before the loop that reads it; a loop of another name is refused.

// CHECK-LABEL: func.func @pack(
// CHECK-SAME: %[[ARG1:.*]]: memref<8x16xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<16x8xf32> {llvm.noalias}, %[[ARG3:.*]]: memref<8x8xf32> {llvm.noalias}) {
// CHECK: %[[V4:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x1xf32>
// CHECK: affine.for %[[I5:.*]] = 0 to 8 {
// CHECK: affine.for %[[I6:.*]] = 0 to 8 {
// CHECK: affine.for %[[I7:.*]] = 0 to 16 {
// CHECK: %[[V8:.*]] = affine.load %[[ARG2]][%[[I7]], %[[I6]]] : memref<16x8xf32>
// CHECK: affine.store %[[V8]], %[[V4]][%[[I7]], 0] : memref<16x1xf32>
// CHECK: } {dlc.name = "B0.in.0"}
// CHECK: affine.for %[[I9:.*]] = 0 to 16 {
// CHECK: %[[V10:.*]] = affine.load %[[ARG1]][%[[I5]], %[[I9]]] : memref<8x16xf32>
// CHECK: %[[V11:.*]] = affine.load %[[V4]][%[[I9]], 0] : memref<16x1xf32>
// CHECK: %[[V12:.*]] = affine.load %[[ARG3]][%[[I5]], %[[I6]]] : memref<8x8xf32>
// CHECK: %[[V13:.*]] = arith.mulf %[[V10]], %[[V11]] : f32
// CHECK: %[[V14:.*]] = arith.addf %[[V12]], %[[V13]] : f32
// CHECK: affine.store %[[V14]], %[[ARG3]][%[[I5]], %[[I6]]] : memref<8x8xf32>
// CHECK: } {dlc.name = "k"}
// CHECK: } {dlc.name = "j"}
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @pack(%A: memref<8x16xf32> {llvm.noalias}, %B: memref<16x8xf32> {llvm.noalias}, %C: memref<8x8xf32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%i, %k] : memref<8x16xf32>
        %b = affine.load %B[%k, %j] : memref<16x8xf32>
        %c = affine.load %C[%i, %j] : memref<8x8xf32>
        %x = arith.mulf %a, %b : f32
        %y = arith.addf %c, %x : f32
        affine.store %y, %C[%i, %j] : memref<8x8xf32>
      } {dlc.name = "k"}
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<8x16xf32> {llvm.noalias}, %B: memref<16x8xf32> {llvm.noalias}, %C: memref<8x8xf32> {llvm.noalias}) {
  // expected-error@below {{no loop is called 'j'; use one of i, x, k}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%i, %k] : memref<8x16xf32>
        %b = affine.load %B[%k, %j] : memref<16x8xf32>
        %c = affine.load %C[%i, %j] : memref<8x8xf32>
        %x = arith.mulf %a, %b : f32
        %y = arith.addf %c, %x : f32
        affine.store %y, %C[%i, %j] : memref<8x8xf32>
      } {dlc.name = "k"}
    } {dlc.name = "x"}
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
