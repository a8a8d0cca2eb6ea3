// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-check-legality=pass=affine-polyhedral-schedule --split-input-file -o /dev/null

// The last nest writes all of %y again, so that a row of it is enough for the first two.
// CHECK-LABEL: func.func @used_up
// CHECK: affine.for %[[B:.*]] = 0 to 4096 {
// CHECK:   %[[Y:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x4096xf64>
// CHECK:   affine.vector_store %{{.*}}, %[[Y]][0, %{{.*}} * 8]
// CHECK:   affine.vector_load %[[Y]][0, %{{.*}} * 8]
// CHECK:   affine.vector_store %{{.*}}, %arg2[%[[B]], %{{.*}} * 8]
// CHECK: } {dlc.parallel}
// CHECK: affine.vector_store %{{.*}}, %arg1[
func.func @used_up(
    %x: memref<4096x4096xf64> {llvm.noalias}, %y: memref<4096x4096xf64> {llvm.noalias}, %z: memref<4096x4096xf64> {llvm.noalias}) {
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %t = arith.addf %v, %v : f64
      affine.store %t, %y[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %y[%i, %j] : memref<4096x4096xf64>
      %w = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %t = arith.divf %v, %w : f64
      affine.store %t, %z[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %z[4095 - %i, %j] : memref<4096x4096xf64>
      affine.store %v, %y[%i, %j] : memref<4096x4096xf64>
    }
  }
  return
}

// -----

// As above, but that the last nest reads %y.
// CHECK-LABEL: func.func @needed
// CHECK-NOT: memref.alloc
func.func @needed(
    %x: memref<4096x4096xf64> {llvm.noalias}, %y: memref<4096x4096xf64> {llvm.noalias}, %z: memref<4096x4096xf64> {llvm.noalias}) {
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %t = arith.addf %v, %v : f64
      affine.store %t, %y[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %y[%i, %j] : memref<4096x4096xf64>
      %t = arith.divf %v, %v : f64
      affine.store %t, %z[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %y[4095 - %i, %j] : memref<4096x4096xf64>
      affine.store %v, %x[%i, %j] : memref<4096x4096xf64>
    }
  }
  return
}
