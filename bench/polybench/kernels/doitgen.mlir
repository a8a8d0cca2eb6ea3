// A[r, q, :] = A[r, q, :] C4 for all r and q (PolyBench/C 4.2.1, linear-algebra/kernels).
!NRxNQxNP = memref<${NR}x${NQ}x${NP}x$T>
!NPxNP = memref<${NP}x${NP}x$T>
!NP = memref<${NP}x$T>
func.func @kernel_doitgen(%A: !NRxNQxNP {llvm.noalias}, %C4: !NPxNP {llvm.noalias}, %total: !NP {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %r = 0 to $NR {
    affine.for %q = 0 to $NQ {
      affine.for %p = 0 to $NP {
        // total[p] = 0.0
        affine.store %zero, %total[%p] : !NP
        affine.for %s = 0 to $NP {
          // total[p] += A[r][q][s] * C4[s][p]
          %total2 = affine.load %total[%p] : !NP
          %a = affine.load %A[%r, %q, %s] : !NRxNQxNP
          %c4 = affine.load %C4[%s, %p] : !NPxNP
          %product = arith.mulf %a, %c4 : $T
          %new = arith.addf %total2, %product : $T
          affine.store %new, %total[%p] : !NP
        }
      }
      affine.for %p = 0 to $NP {
        // A[r][q][p] = total[p]
        %total2 = affine.load %total[%p] : !NP
        affine.store %total2, %A[%r, %q, %p] : !NRxNQxNP
      }
    }
  }
  return
}
