// y = A' (A x) (PolyBench/C 4.2.1, linear-algebra/kernels).
!MxN = memref<${M}x${N}x$T>
!N = memref<${N}x$T>
!M = memref<${M}x$T>
func.func @kernel_atax(%A: !MxN {llvm.noalias}, %x: !N {llvm.noalias}, %y: !N {llvm.noalias}, %tmp: !M {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $N {
    // y[i] = 0.0
    affine.store %zero, %y[%i] : !N
  }
  affine.for %i = 0 to $M {
    // tmp[i] = 0.0
    affine.store %zero, %tmp[%i] : !M
    affine.for %j = 0 to $N {
      // tmp[i] = tmp[i] + A[i][j] * x[j]
      %tmp2 = affine.load %tmp[%i] : !M
      %a = affine.load %A[%i, %j] : !MxN
      %x2 = affine.load %x[%j] : !N
      %product = arith.mulf %a, %x2 : $T
      %sum = arith.addf %tmp2, %product : $T
      affine.store %sum, %tmp[%i] : !M
    }
    affine.for %j = 0 to $N {
      // y[j] = y[j] + A[i][j] * tmp[i]
      %y2 = affine.load %y[%j] : !N
      %a = affine.load %A[%i, %j] : !MxN
      %tmp2 = affine.load %tmp[%i] : !M
      %product = arith.mulf %a, %tmp2 : $T
      %sum = arith.addf %y2, %product : $T
      affine.store %sum, %y[%j] : !N
    }
  }
  return
}
