// D = (A B) C, the product of A and B in H.
!MxN = memref<${M}x${N}x$T>
!MxL = memref<${M}x${L}x$T>
!MxK = memref<${M}x${K}x$T>
!KxL = memref<${K}x${L}x$T>
!LxN = memref<${L}x${N}x$T>
func.func @kernel_dl_matmul_chain(
    %D: !MxN {llvm.noalias}, %H: !MxL {llvm.noalias}, %A: !MxK {llvm.noalias}, %B: !KxL {llvm.noalias},
    %C: !LxN {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $L {
      // H[i][j] = 0.0
      affine.store %zero, %H[%i, %j] : !MxL
      affine.for %k = 0 to $K {
        // H[i][j] += A[i][k] * B[k][j]
        %h = affine.load %H[%i, %j] : !MxL
        %a = affine.load %A[%i, %k] : !MxK
        %b = affine.load %B[%k, %j] : !KxL
        %product = arith.mulf %a, %b : $T
        %new = arith.addf %h, %product : $T
        affine.store %new, %H[%i, %j] : !MxL
      }
    }
  }
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      // D[i][j] = 0.0
      affine.store %zero, %D[%i, %j] : !MxN
      affine.for %k = 0 to $L {
        // D[i][j] += H[i][k] * C[k][j]
        %d = affine.load %D[%i, %j] : !MxN
        %h = affine.load %H[%i, %k] : !MxL
        %c = affine.load %C[%k, %j] : !LxN
        %product = arith.mulf %h, %c : $T
        %new = arith.addf %d, %product : $T
        affine.store %new, %D[%i, %j] : !MxN
      }
    }
  }
  return
}
