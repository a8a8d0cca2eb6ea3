// C = alpha A B + beta C with A symmetric, its lower triangle stored (PolyBench/C 4.2.1, blas).
!MxN = memref<${M}x${N}x$T>
!MxM = memref<${M}x${M}x$T>
func.func @kernel_symm(%alpha: $T, %beta: $T, %C: !MxN {llvm.noalias}, %A: !MxM {llvm.noalias}, %B: !MxN {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      %temp2 = memref.alloca() : memref<$T>
      // temp2 = 0.0
      affine.store %zero, %temp2[] : memref<$T>
      affine.for %k = 0 to affine_map<(i) -> (i)>(%i) {
        // C[k][j] += alpha * B[i][j] * A[i][k]
        %c = affine.load %C[%k, %j] : !MxN
        %b = affine.load %B[%i, %j] : !MxN
        %product = arith.mulf %alpha, %b : $T
        %a = affine.load %A[%i, %k] : !MxM
        %product2 = arith.mulf %product, %a : $T
        %new = arith.addf %c, %product2 : $T
        affine.store %new, %C[%k, %j] : !MxN
        // temp2 += B[k][j] * A[i][k]
        %temp2_2 = affine.load %temp2[] : memref<$T>
        %b2 = affine.load %B[%k, %j] : !MxN
        %a2 = affine.load %A[%i, %k] : !MxM
        %product3 = arith.mulf %b2, %a2 : $T
        %new2 = arith.addf %temp2_2, %product3 : $T
        affine.store %new2, %temp2[] : memref<$T>
      }
      // C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2
      %c = affine.load %C[%i, %j] : !MxN
      %product = arith.mulf %beta, %c : $T
      %b = affine.load %B[%i, %j] : !MxN
      %product2 = arith.mulf %alpha, %b : $T
      %a = affine.load %A[%i, %i] : !MxM
      %product3 = arith.mulf %product2, %a : $T
      %sum = arith.addf %product, %product3 : $T
      %temp2_2 = affine.load %temp2[] : memref<$T>
      %product4 = arith.mulf %alpha, %temp2_2 : $T
      %sum2 = arith.addf %sum, %product4 : $T
      affine.store %sum2, %C[%i, %j] : !MxN
    }
  }
  return
}
