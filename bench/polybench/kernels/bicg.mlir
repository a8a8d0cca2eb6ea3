// s = A' r and q = A p (PolyBench/C 4.2.1, linear-algebra/kernels).
!NxM = memref<${N}x${M}x$T>
!M = memref<${M}x$T>
!N = memref<${N}x$T>
func.func @kernel_bicg(
    %A: !NxM {llvm.noalias}, %s: !M {llvm.noalias}, %q: !N {llvm.noalias}, %p: !M {llvm.noalias}, %r: !N {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $M {
    // s[i] = 0.0
    affine.store %zero, %s[%i] : !M
  }
  affine.for %i = 0 to $N {
    // q[i] = 0.0
    affine.store %zero, %q[%i] : !N
    affine.for %j = 0 to $M {
      // s[j] = s[j] + r[i] * A[i][j]
      %s2 = affine.load %s[%j] : !M
      %r2 = affine.load %r[%i] : !N
      %a = affine.load %A[%i, %j] : !NxM
      %product = arith.mulf %r2, %a : $T
      %sum = arith.addf %s2, %product : $T
      affine.store %sum, %s[%j] : !M
      // q[i] = q[i] + A[i][j] * p[j]
      %q2 = affine.load %q[%i] : !N
      %a2 = affine.load %A[%i, %j] : !NxM
      %p2 = affine.load %p[%j] : !M
      %product2 = arith.mulf %a2, %p2 : $T
      %sum2 = arith.addf %q2, %product2 : $T
      affine.store %sum2, %q[%i] : !N
    }
  }
  return
}
