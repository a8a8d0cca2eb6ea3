// A += u1 v1' + u2 v2'; x += beta A' y + z; w += alpha A x (PolyBench/C 4.2.1, blas).
!NxN = memref<${N}x${N}x$T>
!N = memref<${N}x$T>
func.func @kernel_gemver(
    %alpha: $T, %beta: $T, %A: !NxN {llvm.noalias}, %u1: !N {llvm.noalias}, %v1: !N {llvm.noalias},
    %u2: !N {llvm.noalias}, %v2: !N {llvm.noalias}, %w: !N {llvm.noalias}, %x: !N {llvm.noalias},
    %y: !N {llvm.noalias}, %z: !N {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $N {
      // A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j]
      %a = affine.load %A[%i, %j] : !NxN
      %u1_2 = affine.load %u1[%i] : !N
      %v1_2 = affine.load %v1[%j] : !N
      %product = arith.mulf %u1_2, %v1_2 : $T
      %sum = arith.addf %a, %product : $T
      %u2_2 = affine.load %u2[%i] : !N
      %v2_2 = affine.load %v2[%j] : !N
      %product2 = arith.mulf %u2_2, %v2_2 : $T
      %sum2 = arith.addf %sum, %product2 : $T
      affine.store %sum2, %A[%i, %j] : !NxN
    }
  }
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $N {
      // x[i] = x[i] + beta * A[j][i] * y[j]
      %x2 = affine.load %x[%i] : !N
      %a = affine.load %A[%j, %i] : !NxN
      %product = arith.mulf %beta, %a : $T
      %y2 = affine.load %y[%j] : !N
      %product2 = arith.mulf %product, %y2 : $T
      %sum = arith.addf %x2, %product2 : $T
      affine.store %sum, %x[%i] : !N
    }
  }
  affine.for %i = 0 to $N {
    // x[i] = x[i] + z[i]
    %x2 = affine.load %x[%i] : !N
    %z2 = affine.load %z[%i] : !N
    %sum = arith.addf %x2, %z2 : $T
    affine.store %sum, %x[%i] : !N
  }
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $N {
      // w[i] = w[i] + alpha * A[i][j] * x[j]
      %w2 = affine.load %w[%i] : !N
      %a = affine.load %A[%i, %j] : !NxN
      %product = arith.mulf %alpha, %a : $T
      %x2 = affine.load %x[%j] : !N
      %product2 = arith.mulf %product, %x2 : $T
      %sum = arith.addf %w2, %product2 : $T
      affine.store %sum, %w[%i] : !N
    }
  }
  return
}
