// y = alpha A x + beta B x (PolyBench/C 4.2.1, blas).
!NxN = memref<${N}x${N}x$T>
!N = memref<${N}x$T>
func.func @kernel_gesummv(
    %alpha: $T, %beta: $T, %A: !NxN {llvm.noalias}, %B: !NxN {llvm.noalias}, %tmp: !N {llvm.noalias},
    %x: !N {llvm.noalias}, %y: !N {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $N {
    // tmp[i] = 0.0
    affine.store %zero, %tmp[%i] : !N
    // y[i] = 0.0
    affine.store %zero, %y[%i] : !N
    affine.for %j = 0 to $N {
      // tmp[i] = A[i][j] * x[j] + tmp[i]
      %a = affine.load %A[%i, %j] : !NxN
      %x2 = affine.load %x[%j] : !N
      %product = arith.mulf %a, %x2 : $T
      %tmp2 = affine.load %tmp[%i] : !N
      %sum = arith.addf %product, %tmp2 : $T
      affine.store %sum, %tmp[%i] : !N
      // y[i] = B[i][j] * x[j] + y[i]
      %b = affine.load %B[%i, %j] : !NxN
      %x3 = affine.load %x[%j] : !N
      %product2 = arith.mulf %b, %x3 : $T
      %y2 = affine.load %y[%i] : !N
      %sum2 = arith.addf %product2, %y2 : $T
      affine.store %sum2, %y[%i] : !N
    }
    // y[i] = alpha * tmp[i] + beta * y[i]
    %tmp2 = affine.load %tmp[%i] : !N
    %product = arith.mulf %alpha, %tmp2 : $T
    %y2 = affine.load %y[%i] : !N
    %product2 = arith.mulf %beta, %y2 : $T
    %sum = arith.addf %product, %product2 : $T
    affine.store %sum, %y[%i] : !N
  }
  return
}
