// Correlation matrix of M variables from N observations (PolyBench/C 4.2.1, datamining).
!NxM = memref<${N}x${M}x$T>
!MxM = memref<${M}x${M}x$T>
!M = memref<${M}x$T>
func.func @kernel_correlation(
    %floatn: $T, %data: !NxM {llvm.noalias}, %corr: !MxM {llvm.noalias}, %mean: !M {llvm.noalias},
    %stddev: !M {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  %c0_1 = arith.constant 0.1 : $T
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
  affine.for %j = 0 to $M {
    // stddev[j] = 0.0
    affine.store %zero, %stddev[%j] : !M
    affine.for %i = 0 to $N {
      // stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j])
      %stddev2 = affine.load %stddev[%j] : !M
      %data2 = affine.load %data[%i, %j] : !NxM
      %mean2 = affine.load %mean[%j] : !M
      %difference = arith.subf %data2, %mean2 : $T
      %data3 = affine.load %data[%i, %j] : !NxM
      %mean3 = affine.load %mean[%j] : !M
      %difference2 = arith.subf %data3, %mean3 : $T
      %product = arith.mulf %difference, %difference2 : $T
      %new = arith.addf %stddev2, %product : $T
      affine.store %new, %stddev[%j] : !M
    }
    // stddev[j] /= floatn
    %stddev2 = affine.load %stddev[%j] : !M
    %new = arith.divf %stddev2, %floatn : $T
    affine.store %new, %stddev[%j] : !M
    // stddev[j] = sqrt(stddev[j])
    %stddev3 = affine.load %stddev[%j] : !M
    %root = math.sqrt %stddev3 : $T
    affine.store %root, %stddev[%j] : !M
    // stddev[j] = stddev[j] <= 0.1 ? 1.0 : stddev[j]
    %stddev4 = affine.load %stddev[%j] : !M
    %holds = arith.cmpf ole, %stddev4, %c0_1 : $T
    %stddev5 = affine.load %stddev[%j] : !M
    %chosen = arith.select %holds, %one, %stddev5 : $T
    affine.store %chosen, %stddev[%j] : !M
  }
  affine.for %i = 0 to $N {
    affine.for %j = 0 to $M {
      // data[i][j] -= mean[j]
      %data2 = affine.load %data[%i, %j] : !NxM
      %mean2 = affine.load %mean[%j] : !M
      %new = arith.subf %data2, %mean2 : $T
      affine.store %new, %data[%i, %j] : !NxM
      // data[i][j] /= sqrt(floatn) * stddev[j]
      %data3 = affine.load %data[%i, %j] : !NxM
      %root = math.sqrt %floatn : $T
      %stddev2 = affine.load %stddev[%j] : !M
      %product = arith.mulf %root, %stddev2 : $T
      %new2 = arith.divf %data3, %product : $T
      affine.store %new2, %data[%i, %j] : !NxM
    }
  }
  affine.for %i = 0 to affine_map<() -> ($M - 1)>() {
    // corr[i][i] = 1.0
    affine.store %one, %corr[%i, %i] : !MxM
    affine.for %j = affine_map<(i) -> (i + 1)>(%i) to $M {
      // corr[i][j] = 0.0
      affine.store %zero, %corr[%i, %j] : !MxM
      affine.for %k = 0 to $N {
        // corr[i][j] += data[k][i] * data[k][j]
        %corr2 = affine.load %corr[%i, %j] : !MxM
        %data2 = affine.load %data[%k, %i] : !NxM
        %data3 = affine.load %data[%k, %j] : !NxM
        %product = arith.mulf %data2, %data3 : $T
        %new = arith.addf %corr2, %product : $T
        affine.store %new, %corr[%i, %j] : !MxM
      }
      // corr[j][i] = corr[i][j]
      %corr2 = affine.load %corr[%i, %j] : !MxM
      affine.store %corr2, %corr[%j, %i] : !MxM
    }
  }
  // corr[M - 1][M - 1] = 1.0
  affine.store %one, %corr[$M - 1, $M - 1] : !MxM
  return
}
