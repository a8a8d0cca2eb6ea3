// A = Q R by modified Gram-Schmidt; A is overwritten (PolyBench/C 4.2.1, linear-algebra/solvers).
!MxN = memref<${M}x${N}x$T>
!NxN = memref<${N}x${N}x$T>
func.func @kernel_gramschmidt(%A: !MxN {llvm.noalias}, %R: !NxN {llvm.noalias}, %Q: !MxN {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %k = 0 to $N {
    %nrm = memref.alloca() : memref<$T>
    // nrm = 0.0
    affine.store %zero, %nrm[] : memref<$T>
    affine.for %i = 0 to $M {
      // nrm += A[i][k] * A[i][k]
      %nrm2 = affine.load %nrm[] : memref<$T>
      %a = affine.load %A[%i, %k] : !MxN
      %a2 = affine.load %A[%i, %k] : !MxN
      %product = arith.mulf %a, %a2 : $T
      %new = arith.addf %nrm2, %product : $T
      affine.store %new, %nrm[] : memref<$T>
    }
    // R[k][k] = sqrt(nrm)
    %nrm2 = affine.load %nrm[] : memref<$T>
    %root = math.sqrt %nrm2 : $T
    affine.store %root, %R[%k, %k] : !NxN
    affine.for %i = 0 to $M {
      // Q[i][k] = A[i][k] / R[k][k]
      %a = affine.load %A[%i, %k] : !MxN
      %r = affine.load %R[%k, %k] : !NxN
      %quotient = arith.divf %a, %r : $T
      affine.store %quotient, %Q[%i, %k] : !MxN
    }
    affine.for %j = affine_map<(k) -> (k + 1)>(%k) to $N {
      // R[k][j] = 0.0
      affine.store %zero, %R[%k, %j] : !NxN
      affine.for %i = 0 to $M {
        // R[k][j] += Q[i][k] * A[i][j]
        %r = affine.load %R[%k, %j] : !NxN
        %q = affine.load %Q[%i, %k] : !MxN
        %a = affine.load %A[%i, %j] : !MxN
        %product = arith.mulf %q, %a : $T
        %new = arith.addf %r, %product : $T
        affine.store %new, %R[%k, %j] : !NxN
      }
      affine.for %i = 0 to $M {
        // A[i][j] = A[i][j] - Q[i][k] * R[k][j]
        %a = affine.load %A[%i, %j] : !MxN
        %q = affine.load %Q[%i, %k] : !MxN
        %r = affine.load %R[%k, %j] : !NxN
        %product = arith.mulf %q, %r : $T
        %difference = arith.subf %a, %product : $T
        affine.store %difference, %A[%i, %j] : !MxN
      }
    }
  }
  return
}
