// Softmax of M rows, each less its largest element.
!MxN = memref<${M}x${N}x$T>
!M = memref<${M}x$T>
func.func @kernel_dl_softmax(
    %Y: !MxN {llvm.noalias}, %X: !MxN {llvm.noalias}, %top: !M {llvm.noalias}, %total: !M {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %i = 0 to $M {
    // top[i] = X[i][0]
    %x = affine.load %X[%i, 0] : !MxN
    affine.store %x, %top[%i] : !M
    affine.for %j = 1 to $N {
      // top[i] = maximum(top[i], X[i][j])
      %top2 = affine.load %top[%i] : !M
      %x2 = affine.load %X[%i, %j] : !MxN
      %largest = arith.maximumf %top2, %x2 : $T
      affine.store %largest, %top[%i] : !M
    }
  }
  affine.for %i = 0 to $M {
    // total[i] = 0.0
    affine.store %zero, %total[%i] : !M
    affine.for %j = 0 to $N {
      // Y[i][j] = exp(X[i][j] - top[i])
      %x = affine.load %X[%i, %j] : !MxN
      %top2 = affine.load %top[%i] : !M
      %difference = arith.subf %x, %top2 : $T
      %exponential = math.exp %difference : $T
      affine.store %exponential, %Y[%i, %j] : !MxN
      // total[i] += Y[i][j]
      %total2 = affine.load %total[%i] : !M
      %y = affine.load %Y[%i, %j] : !MxN
      %new = arith.addf %total2, %y : $T
      affine.store %new, %total[%i] : !M
    }
  }
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      // Y[i][j] = Y[i][j] / total[i]
      %y = affine.load %Y[%i, %j] : !MxN
      %total2 = affine.load %total[%i] : !M
      %quotient = arith.divf %y, %total2 : $T
      affine.store %quotient, %Y[%i, %j] : !MxN
    }
  }
  return
}
