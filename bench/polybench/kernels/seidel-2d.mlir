// Nine-point smoothing in place (PolyBench/C 4.2.1, stencils).
!NxN = memref<${N}x${N}x$T>
func.func @kernel_seidel_2d(%A: !NxN {llvm.noalias}) {
  %c9_0 = arith.constant 9.0 : $T
  affine.for %t = 0 to $TSTEPS {
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        // A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j
        //     - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0
        %a = affine.load %A[%i - 1, %j - 1] : !NxN
        %a2 = affine.load %A[%i - 1, %j] : !NxN
        %sum = arith.addf %a, %a2 : $T
        %a3 = affine.load %A[%i - 1, %j + 1] : !NxN
        %sum2 = arith.addf %sum, %a3 : $T
        %a4 = affine.load %A[%i, %j - 1] : !NxN
        %sum3 = arith.addf %sum2, %a4 : $T
        %a5 = affine.load %A[%i, %j] : !NxN
        %sum4 = arith.addf %sum3, %a5 : $T
        %a6 = affine.load %A[%i, %j + 1] : !NxN
        %sum5 = arith.addf %sum4, %a6 : $T
        %a7 = affine.load %A[%i + 1, %j - 1] : !NxN
        %sum6 = arith.addf %sum5, %a7 : $T
        %a8 = affine.load %A[%i + 1, %j] : !NxN
        %sum7 = arith.addf %sum6, %a8 : $T
        %a9 = affine.load %A[%i + 1, %j + 1] : !NxN
        %sum8 = arith.addf %sum7, %a9 : $T
        %quotient = arith.divf %sum8, %c9_0 : $T
        affine.store %quotient, %A[%i, %j] : !NxN
      }
    }
  }
  return
}
