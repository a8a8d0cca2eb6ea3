// G = (A B) (C D) (PolyBench/C 4.2.1, linear-algebra/kernels).
!NIxNJ = memref<${NI}x${NJ}x$T>
!NIxNK = memref<${NI}x${NK}x$T>
!NKxNJ = memref<${NK}x${NJ}x$T>
!NJxNL = memref<${NJ}x${NL}x$T>
!NJxNM = memref<${NJ}x${NM}x$T>
!NMxNL = memref<${NM}x${NL}x$T>
!NIxNL = memref<${NI}x${NL}x$T>
func.func @kernel_3mm(
    %E: !NIxNJ {llvm.noalias}, %A: !NIxNK {llvm.noalias}, %B: !NKxNJ {llvm.noalias}, %F: !NJxNL {llvm.noalias},
    %C: !NJxNM {llvm.noalias}, %D: !NMxNL {llvm.noalias}, %G: !NIxNL {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $NI {
    affine.for %j = 0 to $NJ {
      // E[i][j] = 0.0
      affine.store %zero, %E[%i, %j] : !NIxNJ
      affine.for %k = 0 to $NK {
        // E[i][j] += A[i][k] * B[k][j]
        %e = affine.load %E[%i, %j] : !NIxNJ
        %a = affine.load %A[%i, %k] : !NIxNK
        %b = affine.load %B[%k, %j] : !NKxNJ
        %product = arith.mulf %a, %b : $T
        %new = arith.addf %e, %product : $T
        affine.store %new, %E[%i, %j] : !NIxNJ
      }
    }
  }
  affine.for %i = 0 to $NJ {
    affine.for %j = 0 to $NL {
      // F[i][j] = 0.0
      affine.store %zero, %F[%i, %j] : !NJxNL
      affine.for %k = 0 to $NM {
        // F[i][j] += C[i][k] * D[k][j]
        %f = affine.load %F[%i, %j] : !NJxNL
        %c = affine.load %C[%i, %k] : !NJxNM
        %d = affine.load %D[%k, %j] : !NMxNL
        %product = arith.mulf %c, %d : $T
        %new = arith.addf %f, %product : $T
        affine.store %new, %F[%i, %j] : !NJxNL
      }
    }
  }
  affine.for %i = 0 to $NI {
    affine.for %j = 0 to $NL {
      // G[i][j] = 0.0
      affine.store %zero, %G[%i, %j] : !NIxNL
      affine.for %k = 0 to $NJ {
        // G[i][j] += E[i][k] * F[k][j]
        %g = affine.load %G[%i, %j] : !NIxNL
        %e = affine.load %E[%i, %k] : !NIxNJ
        %f = affine.load %F[%k, %j] : !NJxNL
        %product = arith.mulf %e, %f : $T
        %new = arith.addf %g, %product : $T
        affine.store %new, %G[%i, %j] : !NIxNL
      }
    }
  }
  return
}
