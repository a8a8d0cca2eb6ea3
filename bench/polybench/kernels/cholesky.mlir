// The Cholesky factor of A in its lower triangle (PolyBench/C 4.2.1, linear-algebra/solvers).
!NxN = memref<${N}x${N}x$T>
func.func @kernel_cholesky(%A: !NxN {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      affine.for %k = 0 to affine_map<(j) -> (j)>(%j) {
        // A[i][j] -= A[i][k] * A[j][k]
        %a = affine.load %A[%i, %j] : !NxN
        %a2 = affine.load %A[%i, %k] : !NxN
        %a3 = affine.load %A[%j, %k] : !NxN
        %product = arith.mulf %a2, %a3 : $T
        %new = arith.subf %a, %product : $T
        affine.store %new, %A[%i, %j] : !NxN
      }
      // A[i][j] /= A[j][j]
      %a = affine.load %A[%i, %j] : !NxN
      %a2 = affine.load %A[%j, %j] : !NxN
      %new = arith.divf %a, %a2 : $T
      affine.store %new, %A[%i, %j] : !NxN
    }
    affine.for %k = 0 to affine_map<(i) -> (i)>(%i) {
      // A[i][i] -= A[i][k] * A[i][k]
      %a = affine.load %A[%i, %i] : !NxN
      %a2 = affine.load %A[%i, %k] : !NxN
      %a3 = affine.load %A[%i, %k] : !NxN
      %product = arith.mulf %a2, %a3 : $T
      %new = arith.subf %a, %product : $T
      affine.store %new, %A[%i, %i] : !NxN
    }
    // A[i][i] = sqrt(A[i][i])
    %a = affine.load %A[%i, %i] : !NxN
    %root = math.sqrt %a : $T
    affine.store %root, %A[%i, %i] : !NxN
  }
  return
}
