// RUN: dlc-opt %s --affine-polyhedral-schedule=time-tiles=4,4,0 --split-input-file --verify-diagnostics

func.func @line(%A: memref<64xf32> {llvm.noalias}, %B: memref<64xf32> {llvm.noalias}) {
  affine.for %t = 0 to 32 {
    affine.for %i = 1 to 63 {
      // expected-error@below {{time-tiles has no sizes for 2 loops; give a size or 0 for each}}
      %a = affine.load %A[%i - 1] : memref<64xf32>
      %b = affine.load %A[%i + 1] : memref<64xf32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %B[%i] : memref<64xf32>
    }
    affine.for %i = 1 to 63 {
      %b = affine.load %B[%i] : memref<64xf32>
      affine.store %b, %A[%i] : memref<64xf32>
    }
  }
  return
}
