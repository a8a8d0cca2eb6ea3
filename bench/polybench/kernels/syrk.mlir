// C = alpha A A' + beta C in the lower triangle (PolyBench/C 4.2.1, blas).
!NxN = memref<${N}x${N}x$T>
!NxM = memref<${N}x${M}x$T>
func.func @kernel_syrk(%alpha: $T, %beta: $T, %C: !NxN {llvm.noalias}, %A: !NxM {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
      // C[i][j] *= beta
      %c = affine.load %C[%i, %j] : !NxN
      %new = arith.mulf %c, %beta : $T
      affine.store %new, %C[%i, %j] : !NxN
    }
    affine.for %k = 0 to $M {
      affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
        // C[i][j] += alpha * A[i][k] * A[j][k]
        %c = affine.load %C[%i, %j] : !NxN
        %a = affine.load %A[%i, %k] : !NxM
        %product = arith.mulf %alpha, %a : $T
        %a2 = affine.load %A[%j, %k] : !NxM
        %product2 = arith.mulf %product, %a2 : $T
        %new = arith.addf %c, %product2 : $T
        affine.store %new, %C[%i, %j] : !NxN
      }
    }
  }
  return
}
