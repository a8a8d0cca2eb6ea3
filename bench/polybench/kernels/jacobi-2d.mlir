// Five-point smoothing, two grids in turn (PolyBench/C 4.2.1, stencils).
!NxN = memref<${N}x${N}x$T>
func.func @kernel_jacobi_2d(%A: !NxN {llvm.noalias}, %B: !NxN {llvm.noalias}) {
  %c0_2 = arith.constant 0.2 : $T
  affine.for %t = 0 to $TSTEPS {
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        // B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j])
        %a = affine.load %A[%i, %j] : !NxN
        %a2 = affine.load %A[%i, %j - 1] : !NxN
        %sum = arith.addf %a, %a2 : $T
        %a3 = affine.load %A[%i, %j + 1] : !NxN
        %sum2 = arith.addf %sum, %a3 : $T
        %a4 = affine.load %A[%i + 1, %j] : !NxN
        %sum3 = arith.addf %sum2, %a4 : $T
        %a5 = affine.load %A[%i - 1, %j] : !NxN
        %sum4 = arith.addf %sum3, %a5 : $T
        %product = arith.mulf %c0_2, %sum4 : $T
        affine.store %product, %B[%i, %j] : !NxN
      }
    }
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        // A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j])
        %b = affine.load %B[%i, %j] : !NxN
        %b2 = affine.load %B[%i, %j - 1] : !NxN
        %sum = arith.addf %b, %b2 : $T
        %b3 = affine.load %B[%i, %j + 1] : !NxN
        %sum2 = arith.addf %sum, %b3 : $T
        %b4 = affine.load %B[%i + 1, %j] : !NxN
        %sum3 = arith.addf %sum2, %b4 : $T
        %b5 = affine.load %B[%i - 1, %j] : !NxN
        %sum4 = arith.addf %sum3, %b5 : $T
        %product = arith.mulf %c0_2, %sum4 : $T
        affine.store %product, %A[%i, %j] : !NxN
      }
    }
  }
  return
}
