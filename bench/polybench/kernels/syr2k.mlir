// C = alpha (A B' + B A') + beta C in the lower triangle (PolyBench/C 4.2.1, blas).
!NxN = memref<${N}x${N}x$T>
!NxM = memref<${N}x${M}x$T>
func.func @kernel_syr2k(%alpha: $T, %beta: $T, %C: !NxN {llvm.noalias}, %A: !NxM {llvm.noalias}, %B: !NxM {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
      // C[i][j] *= beta
      %c = affine.load %C[%i, %j] : !NxN
      %new = arith.mulf %c, %beta : $T
      affine.store %new, %C[%i, %j] : !NxN
    }
    affine.for %k = 0 to $M {
      affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
        // C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k]
        %c = affine.load %C[%i, %j] : !NxN
        %a = affine.load %A[%j, %k] : !NxM
        %product = arith.mulf %a, %alpha : $T
        %b = affine.load %B[%i, %k] : !NxM
        %product2 = arith.mulf %product, %b : $T
        %b2 = affine.load %B[%j, %k] : !NxM
        %product3 = arith.mulf %b2, %alpha : $T
        %a2 = affine.load %A[%i, %k] : !NxM
        %product4 = arith.mulf %product3, %a2 : $T
        %sum = arith.addf %product2, %product4 : $T
        %new = arith.addf %c, %sum : $T
        affine.store %new, %C[%i, %j] : !NxN
      }
    }
  }
  return
}
