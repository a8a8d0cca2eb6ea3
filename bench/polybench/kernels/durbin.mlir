// Solves the Yule-Walker equations of the Toeplitz matrix of r (PolyBench/C 4.2.1, linear-algebra/solvers).
!N = memref<${N}x$T>
func.func @kernel_durbin(%r: !N {llvm.noalias}, %y: !N {llvm.noalias}) {
  %one = arith.constant 1.0 : $T
  %zero = arith.constant 0.0 : $T
  %z = memref.alloca() : memref<${N}x$T>
  %alpha = memref.alloca() : memref<$T>
  %beta = memref.alloca() : memref<$T>
  %total = memref.alloca() : memref<$T>
  // y[0] = -r[0]
  %r2 = affine.load %r[0] : !N
  %negated = arith.negf %r2 : $T
  affine.store %negated, %y[0] : !N
  // beta = 1.0
  affine.store %one, %beta[] : memref<$T>
  // alpha = -r[0]
  %r3 = affine.load %r[0] : !N
  %negated2 = arith.negf %r3 : $T
  affine.store %negated2, %alpha[] : memref<$T>
  affine.for %k = 1 to $N {
    // beta = (1.0 - alpha * alpha) * beta
    %alpha2 = affine.load %alpha[] : memref<$T>
    %alpha3 = affine.load %alpha[] : memref<$T>
    %product = arith.mulf %alpha2, %alpha3 : $T
    %difference = arith.subf %one, %product : $T
    %beta2 = affine.load %beta[] : memref<$T>
    %product2 = arith.mulf %difference, %beta2 : $T
    affine.store %product2, %beta[] : memref<$T>
    // total = 0.0
    affine.store %zero, %total[] : memref<$T>
    affine.for %i = 0 to affine_map<(k) -> (k)>(%k) {
      // total += r[k - i - 1] * y[i]
      %total2 = affine.load %total[] : memref<$T>
      %r4 = affine.load %r[%k - %i - 1] : !N
      %y2 = affine.load %y[%i] : !N
      %product3 = arith.mulf %r4, %y2 : $T
      %new = arith.addf %total2, %product3 : $T
      affine.store %new, %total[] : memref<$T>
    }
    // alpha = -(r[k] + total) / beta
    %r4 = affine.load %r[%k] : !N
    %total2 = affine.load %total[] : memref<$T>
    %sum = arith.addf %r4, %total2 : $T
    %negated3 = arith.negf %sum : $T
    %beta3 = affine.load %beta[] : memref<$T>
    %quotient = arith.divf %negated3, %beta3 : $T
    affine.store %quotient, %alpha[] : memref<$T>
    affine.for %i = 0 to affine_map<(k) -> (k)>(%k) {
      // z[i] = y[i] + alpha * y[k - i - 1]
      %y2 = affine.load %y[%i] : !N
      %alpha4 = affine.load %alpha[] : memref<$T>
      %y3 = affine.load %y[%k - %i - 1] : !N
      %product3 = arith.mulf %alpha4, %y3 : $T
      %sum2 = arith.addf %y2, %product3 : $T
      affine.store %sum2, %z[%i] : memref<${N}x$T>
    }
    affine.for %i = 0 to affine_map<(k) -> (k)>(%k) {
      // y[i] = z[i]
      %z2 = affine.load %z[%i] : memref<${N}x$T>
      affine.store %z2, %y[%i] : !N
    }
    // y[k] = alpha
    %alpha4 = affine.load %alpha[] : memref<$T>
    affine.store %alpha4, %y[%k] : !N
  }
  return
}
