// Layer norm of M rows: y = (x - mean) / sqrt(variance + 1e-5) gamma + beta.
!MxN = memref<${M}x${N}x$T>
!N = memref<${N}x$T>
!M = memref<${M}x$T>
func.func @kernel_dl_layer_norm(
    %Y: !MxN {llvm.noalias}, %X: !MxN {llvm.noalias}, %gamma: !N {llvm.noalias}, %beta: !N {llvm.noalias},
    %mean: !M {llvm.noalias}, %variance: !M {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  %N = arith.constant ${N}.0 : $T
  %epsilon = arith.constant 1.0e-5 : $T
  affine.for %i = 0 to $M {
    // mean[i] = 0.0
    affine.store %zero, %mean[%i] : !M
    affine.for %j = 0 to $N {
      // mean[i] += X[i][j]
      %mean2 = affine.load %mean[%i] : !M
      %x = affine.load %X[%i, %j] : !MxN
      %new = arith.addf %mean2, %x : $T
      affine.store %new, %mean[%i] : !M
    }
    // mean[i] /= N
    %mean2 = affine.load %mean[%i] : !M
    %new = arith.divf %mean2, %N : $T
    affine.store %new, %mean[%i] : !M
  }
  affine.for %i = 0 to $M {
    // variance[i] = 0.0
    affine.store %zero, %variance[%i] : !M
    affine.for %j = 0 to $N {
      // variance[i] += (X[i][j] - mean[i]) * (X[i][j] - mean[i])
      %variance2 = affine.load %variance[%i] : !M
      %x = affine.load %X[%i, %j] : !MxN
      %mean2 = affine.load %mean[%i] : !M
      %difference = arith.subf %x, %mean2 : $T
      %x2 = affine.load %X[%i, %j] : !MxN
      %mean3 = affine.load %mean[%i] : !M
      %difference2 = arith.subf %x2, %mean3 : $T
      %product = arith.mulf %difference, %difference2 : $T
      %new = arith.addf %variance2, %product : $T
      affine.store %new, %variance[%i] : !M
    }
    // variance[i] /= N
    %variance2 = affine.load %variance[%i] : !M
    %new = arith.divf %variance2, %N : $T
    affine.store %new, %variance[%i] : !M
  }
  affine.for %i = 0 to $M {
    affine.for %j = 0 to $N {
      // Y[i][j] = (X[i][j] - mean[i]) / sqrt(variance[i] + 1e-05) * gamma[j] + beta[j]
      %x = affine.load %X[%i, %j] : !MxN
      %mean2 = affine.load %mean[%i] : !M
      %difference = arith.subf %x, %mean2 : $T
      %variance2 = affine.load %variance[%i] : !M
      %sum = arith.addf %variance2, %epsilon : $T
      %root = math.sqrt %sum : $T
      %quotient = arith.divf %difference, %root : $T
      %gamma2 = affine.load %gamma[%j] : !N
      %product = arith.mulf %quotient, %gamma2 : $T
      %beta2 = affine.load %beta[%j] : !N
      %sum2 = arith.addf %product, %beta2 : $T
      affine.store %sum2, %Y[%i, %j] : !MxN
    }
  }
  return
}
