// Solves A x = b by the LU factors of A, which overwrite it (PolyBench/C 4.2.1, linear-algebra/solvers).
!NxN = memref<${N}x${N}x$T>
!N = memref<${N}x$T>
func.func @kernel_ludcmp(%A: !NxN {llvm.noalias}, %b: !N {llvm.noalias}, %x: !N {llvm.noalias}, %y: !N {llvm.noalias}) {
  affine.for %i = 0 to $N {
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      %w = memref.alloca() : memref<$T>
      // w = A[i][j]
      %a = affine.load %A[%i, %j] : !NxN
      affine.store %a, %w[] : memref<$T>
      affine.for %k = 0 to affine_map<(j) -> (j)>(%j) {
        // w -= A[i][k] * A[k][j]
        %w2 = affine.load %w[] : memref<$T>
        %a2 = affine.load %A[%i, %k] : !NxN
        %a3 = affine.load %A[%k, %j] : !NxN
        %product = arith.mulf %a2, %a3 : $T
        %new = arith.subf %w2, %product : $T
        affine.store %new, %w[] : memref<$T>
      }
      // A[i][j] = w / A[j][j]
      %w2 = affine.load %w[] : memref<$T>
      %a2 = affine.load %A[%j, %j] : !NxN
      %quotient = arith.divf %w2, %a2 : $T
      affine.store %quotient, %A[%i, %j] : !NxN
    }
    affine.for %j = affine_map<(i) -> (i)>(%i) to $N {
      %w = memref.alloca() : memref<$T>
      // w = A[i][j]
      %a = affine.load %A[%i, %j] : !NxN
      affine.store %a, %w[] : memref<$T>
      affine.for %k = 0 to affine_map<(i) -> (i)>(%i) {
        // w -= A[i][k] * A[k][j]
        %w2 = affine.load %w[] : memref<$T>
        %a2 = affine.load %A[%i, %k] : !NxN
        %a3 = affine.load %A[%k, %j] : !NxN
        %product = arith.mulf %a2, %a3 : $T
        %new = arith.subf %w2, %product : $T
        affine.store %new, %w[] : memref<$T>
      }
      // A[i][j] = w
      %w2 = affine.load %w[] : memref<$T>
      affine.store %w2, %A[%i, %j] : !NxN
    }
  }
  affine.for %i = 0 to $N {
    %w = memref.alloca() : memref<$T>
    // w = b[i]
    %b2 = affine.load %b[%i] : !N
    affine.store %b2, %w[] : memref<$T>
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      // w -= A[i][j] * y[j]
      %w2 = affine.load %w[] : memref<$T>
      %a = affine.load %A[%i, %j] : !NxN
      %y2 = affine.load %y[%j] : !N
      %product = arith.mulf %a, %y2 : $T
      %new = arith.subf %w2, %product : $T
      affine.store %new, %w[] : memref<$T>
    }
    // y[i] = w
    %w2 = affine.load %w[] : memref<$T>
    affine.store %w2, %y[%i] : !N
  }
  affine.for %ir = 0 to $N {  // i = N - 1 - ir
    %w = memref.alloca() : memref<$T>
    // w = y[i]
    %y2 = affine.load %y[$N - 1 - %ir] : !N
    affine.store %y2, %w[] : memref<$T>
    affine.for %j = affine_map<(ir) -> ($N - ir)>(%ir) to $N {
      // w -= A[i][j] * x[j]
      %w2 = affine.load %w[] : memref<$T>
      %a = affine.load %A[$N - 1 - %ir, %j] : !NxN
      %x2 = affine.load %x[%j] : !N
      %product = arith.mulf %a, %x2 : $T
      %new = arith.subf %w2, %product : $T
      affine.store %new, %w[] : memref<$T>
    }
    // x[i] = w / A[i][i]
    %w2 = affine.load %w[] : memref<$T>
    %a = affine.load %A[$N - 1 - %ir, $N - 1 - %ir] : !NxN
    %quotient = arith.divf %w2, %a : $T
    affine.store %quotient, %x[$N - 1 - %ir] : !N
  }
  return
}
