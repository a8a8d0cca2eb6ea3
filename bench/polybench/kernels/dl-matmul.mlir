// C = A B.
!MxN = memref<${M}x${N}x$T>
!MxK = memref<${M}x${K}x$T>
!KxN = memref<${K}x${N}x$T>
func.func @kernel_dl_matmul(%C: !MxN {llvm.noalias}, %A: !MxK {llvm.noalias}, %B: !KxN {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      // C[i][j] = 0.0
      affine.store %zero, %C[%i, %j] : !MxN
      affine.for %k = 0 to $K {
        // C[i][j] += A[i][k] * B[k][j]
        %c = affine.load %C[%i, %j] : !MxN
        %a = affine.load %A[%i, %k] : !MxK
        %b = affine.load %B[%k, %j] : !KxN
        %product = arith.mulf %a, %b : $T
        %new = arith.addf %c, %product : $T
        affine.store %new, %C[%i, %j] : !MxN
      }
    }
  }
  return
}
