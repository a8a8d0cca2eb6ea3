// C = alpha A B + beta C (PolyBench/C 4.2.1, blas).
!NIxNJ = memref<${NI}x${NJ}x$T>
!NIxNK = memref<${NI}x${NK}x$T>
!NKxNJ = memref<${NK}x${NJ}x$T>
func.func @kernel_gemm(%alpha: $T, %beta: $T, %C: !NIxNJ {llvm.noalias}, %A: !NIxNK {llvm.noalias}, %B: !NKxNJ {llvm.noalias}) {
  affine.for %i = 0 to $NI {
    affine.for %j = 0 to $NJ {
      // C[i][j] *= beta
      %c = affine.load %C[%i, %j] : !NIxNJ
      %new = arith.mulf %c, %beta : $T
      affine.store %new, %C[%i, %j] : !NIxNJ
    }
    affine.for %k = 0 to $NK {
      affine.for %j = 0 to $NJ {
        // C[i][j] += alpha * A[i][k] * B[k][j]
        %c = affine.load %C[%i, %j] : !NIxNJ
        %a = affine.load %A[%i, %k] : !NIxNK
        %product = arith.mulf %alpha, %a : $T
        %b = affine.load %B[%k, %j] : !NKxNJ
        %product2 = arith.mulf %product, %b : $T
        %new = arith.addf %c, %product2 : $T
        affine.store %new, %C[%i, %j] : !NIxNJ
      }
    }
  }
  return
}
