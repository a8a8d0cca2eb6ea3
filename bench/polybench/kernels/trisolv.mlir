// Solves L x = b for a lower triangular L (PolyBench/C 4.2.1, linear-algebra/solvers).
!NxN = memref<${N}x${N}x$T>
!N = memref<${N}x$T>
func.func @kernel_trisolv(%L: !NxN {llvm.noalias}, %x: !N {llvm.noalias}, %b: !N {llvm.noalias}) {
  affine.for %i = 0 to $N {
    // x[i] = b[i]
    %b2 = affine.load %b[%i] : !N
    affine.store %b2, %x[%i] : !N
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      // x[i] -= L[i][j] * x[j]
      %x2 = affine.load %x[%i] : !N
      %l = affine.load %L[%i, %j] : !NxN
      %x3 = affine.load %x[%j] : !N
      %product = arith.mulf %l, %x3 : $T
      %new = arith.subf %x2, %product : $T
      affine.store %new, %x[%i] : !N
    }
    // x[i] = x[i] / L[i][i]
    %x2 = affine.load %x[%i] : !N
    %l = affine.load %L[%i, %i] : !NxN
    %quotient = arith.divf %x2, %l : $T
    affine.store %quotient, %x[%i] : !N
  }
  return
}
