// Covariance matrix of M variables from N observations (PolyBench/C 4.2.1, datamining).
!NxM = memref<${N}x${M}x$T>
!MxM = memref<${M}x${M}x$T>
!M = memref<${M}x$T>
func.func @kernel_covariance(%floatn: $T, %data: !NxM {llvm.noalias}, %cov: !MxM {llvm.noalias}, %mean: !M {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  %one = arith.constant 1.0 : $T
  affine.for %j = 0 to $M {
    // mean[j] = 0.0
    affine.store %zero, %mean[%j] : !M
    affine.for %i = 0 to $N {
      // mean[j] += data[i][j]
      %mean2 = affine.load %mean[%j] : !M
      %data2 = affine.load %data[%i, %j] : !NxM
      %new = arith.addf %mean2, %data2 : $T
      affine.store %new, %mean[%j] : !M
    }
    // mean[j] /= floatn
    %mean2 = affine.load %mean[%j] : !M
    %new = arith.divf %mean2, %floatn : $T
    affine.store %new, %mean[%j] : !M
  }
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $M {
      // data[i][j] -= mean[j]
      %data2 = affine.load %data[%i, %j] : !NxM
      %mean2 = affine.load %mean[%j] : !M
      %new = arith.subf %data2, %mean2 : $T
      affine.store %new, %data[%i, %j] : !NxM
    }
  }
  affine.for %i = 0 to $M {
    affine.for %j = affine_map<(i) -> (i)>(%i) to $M {
      // cov[i][j] = 0.0
      affine.store %zero, %cov[%i, %j] : !MxM
      affine.for %k = 0 to $N {
        // cov[i][j] += data[k][i] * data[k][j]
        %cov2 = affine.load %cov[%i, %j] : !MxM
        %data2 = affine.load %data[%k, %i] : !NxM
        %data3 = affine.load %data[%k, %j] : !NxM
        %product = arith.mulf %data2, %data3 : $T
        %new = arith.addf %cov2, %product : $T
        affine.store %new, %cov[%i, %j] : !MxM
      }
      // cov[i][j] /= floatn - 1.0
      %cov2 = affine.load %cov[%i, %j] : !MxM
      %difference = arith.subf %floatn, %one : $T
      %new = arith.divf %cov2, %difference : $T
      affine.store %new, %cov[%i, %j] : !MxM
      // cov[j][i] = cov[i][j]
      %cov3 = affine.load %cov[%i, %j] : !MxM
      affine.store %cov3, %cov[%j, %i] : !MxM
    }
  }
  return
}
