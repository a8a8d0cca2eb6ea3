// RUN: not dlc-opt %s --split-input-file --affine-polyhedral-schedule 2>&1 | filecheck %s
// RUN: dlc-opt %s --split-input-file --affine-polyhedral-schedule=leave-others 2>&1 | filecheck %s --check-prefix=LEFT
// Bounds beyond any index of memory, and sizes of axes that a memref does not have.

// CHECK: error: -9223372036854775808 is beyond any index of memory; give a number within 2^47
// LEFT: remark: @paths is left as it is: -9223372036854775808 is beyond any index of memory
func.func @paths(%A: memref<256x256xi32>) {
  affine.for %k = -9223372036854775808 to 256 {
    affine.for %i = 0 to 256 {
      affine.for %j = 0 to 256 {
        %a = affine.load %A[%i, %j] : memref<256x256xi32>
        %b = affine.load %A[%i, %k] : memref<256x256xi32>
        %s = arith.addi %a, %b : i32
        affine.store %s, %A[%i, %j] : memref<256x256xi32>
      }
    }
  }
  return
}

// -----

// LEFT: func.func @axis
func.func @axis(%A: memref<?xf32>, %x: f32) {
  %c2 = arith.constant 2 : index
  %n = memref.dim %A, %c2 : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
