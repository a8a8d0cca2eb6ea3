// x1 += A y1 and x2 += A' y2 (PolyBench/C 4.2.1, linear-algebra/kernels).
!N = memref<${N}x$T>
!NxN = memref<${N}x${N}x$T>
func.func @kernel_mvt(
    %x1: !N {llvm.noalias}, %x2: !N {llvm.noalias}, %y1: !N {llvm.noalias}, %y2: !N {llvm.noalias},
    %A: !NxN {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $N {
      // x1[i] = x1[i] + A[i][j] * y1[j]
      %x1_2 = affine.load %x1[%i] : !N
      %a = affine.load %A[%i, %j] : !NxN
      %y1_2 = affine.load %y1[%j] : !N
      %product = arith.mulf %a, %y1_2 : $T
      %sum = arith.addf %x1_2, %product : $T
      affine.store %sum, %x1[%i] : !N
    }
  }
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $N {
      // x2[i] = x2[i] + A[j][i] * y2[j]
      %x2_2 = affine.load %x2[%i] : !N
      %a = affine.load %A[%j, %i] : !NxN
      %y2_2 = affine.load %y2[%j] : !N
      %product = arith.mulf %a, %y2_2 : $T
      %sum = arith.addf %x2_2, %product : $T
      affine.store %sum, %x2[%i] : !N
    }
  }
  return
}
