// B = alpha A' B with A lower triangular, its diagonal 1 (PolyBench/C 4.2.1, blas).
!MxM = memref<${M}x${M}x$T>
!MxN = memref<${M}x${N}x$T>
func.func @kernel_trmm(%alpha: $T, %A: !MxM {llvm.noalias}, %B: !MxN {llvm.noalias}) {
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      affine.for %k = affine_map<(i) -> (i + 1)>(%i) to $M {
        // B[i][j] += A[k][i] * B[k][j]
        %b = affine.load %B[%i, %j] : !MxN
        %a = affine.load %A[%k, %i] : !MxM
        %b2 = affine.load %B[%k, %j] : !MxN
        %product = arith.mulf %a, %b2 : $T
        %new = arith.addf %b, %product : $T
        affine.store %new, %B[%i, %j] : !MxN
      }
      // B[i][j] = alpha * B[i][j]
      %b = affine.load %B[%i, %j] : !MxN
      %product = arith.mulf %alpha, %b : $T
      affine.store %product, %B[%i, %j] : !MxN
    }
  }
  return
}
