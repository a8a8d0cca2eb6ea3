// D = alpha A B C + beta D (PolyBench/C 4.2.1, linear-algebra/kernels).
!NIxNJ = memref<${NI}x${NJ}x$T>
!NIxNK = memref<${NI}x${NK}x$T>
!NKxNJ = memref<${NK}x${NJ}x$T>
!NJxNL = memref<${NJ}x${NL}x$T>
!NIxNL = memref<${NI}x${NL}x$T>
func.func @kernel_2mm(
    %alpha: $T, %beta: $T, %tmp: !NIxNJ {llvm.noalias}, %A: !NIxNK {llvm.noalias}, %B: !NKxNJ {llvm.noalias},
    %C: !NJxNL {llvm.noalias}, %D: !NIxNL {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $NI {
    affine.for %j = 0 to $NJ {
      // tmp[i][j] = 0.0
      affine.store %zero, %tmp[%i, %j] : !NIxNJ
      affine.for %k = 0 to $NK {
        // tmp[i][j] += alpha * A[i][k] * B[k][j]
        %tmp2 = affine.load %tmp[%i, %j] : !NIxNJ
        %a = affine.load %A[%i, %k] : !NIxNK
        %product = arith.mulf %alpha, %a : $T
        %b = affine.load %B[%k, %j] : !NKxNJ
        %product2 = arith.mulf %product, %b : $T
        %new = arith.addf %tmp2, %product2 : $T
        affine.store %new, %tmp[%i, %j] : !NIxNJ
      }
    }
  }
  affine.for %i = 0 to $NI {
    affine.for %j = 0 to $NL {
      // D[i][j] *= beta
      %d = affine.load %D[%i, %j] : !NIxNL
      %new = arith.mulf %d, %beta : $T
      affine.store %new, %D[%i, %j] : !NIxNL
      affine.for %k = 0 to $NJ {
        // D[i][j] += tmp[i][k] * C[k][j]
        %d2 = affine.load %D[%i, %j] : !NIxNL
        %tmp2 = affine.load %tmp[%i, %k] : !NIxNJ
        %c = affine.load %C[%k, %j] : !NJxNL
        %product = arith.mulf %tmp2, %c : $T
        %new2 = arith.addf %d2, %product : $T
        affine.store %new2, %D[%i, %j] : !NIxNL
      }
    }
  }
  return
}
