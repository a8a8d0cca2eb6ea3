// RUN: dlc-opt %s --split-input-file --convert-launches-to-calls | filecheck %s
// The entry of a model begins and finishes a call of the GPU also where nothing in it is the GPU's. The pass refuses nothing of that.

// CHECK: llvm.mlir.global external @dlc_gpu_model
// CHECK-LABEL: func.func @main(
// CHECK: %[[MODEL:.*]] = llvm.load
// CHECK: call @dlc_gpu_begin(%[[MODEL]])
// CHECK: memref.copy
// CHECK: call @dlc_gpu_finish()
// CHECK: return
module attributes {dl.signature = {entry = "main", inputs = [], outputs = [], params = []}} {
func.func @main(%x: memref<3xf32>, %y: memref<3xf32>) {
  memref.copy %x, %y : memref<3xf32> to memref<3xf32>
  return
}
}

// -----

// no-match: a function that no model names.
// CHECK-LABEL: func.func @other(
// CHECK-NOT: call
// CHECK: return
func.func @other(%x: memref<3xf32>, %y: memref<3xf32>) {
  memref.copy %x, %y : memref<3xf32> to memref<3xf32>
  return
}
