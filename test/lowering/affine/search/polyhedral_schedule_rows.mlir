// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-check-legality=pass=affine-polyhedral-schedule --split-input-file -o /dev/null
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule=fusion=min --split-input-file | filecheck %s --check-prefix=MIN

// Sums along rows, then rows divided by them: blocks of eight rows, which fill the lanes of the sums, go through both nests.
// CHECK-LABEL: func.func @rows
// CHECK: affine.for %[[B:.*]] = 0 to 512 {
// CHECK:   affine.for %[[J:.*]] = 0 to 4096 {
// CHECK:     affine.load %arg0[%[[B]] * 8 + 7, %[[J]]]
// CHECK:   }
// CHECK:   affine.for %[[R:.*]] = 0 to 8 {
// CHECK:     affine.for %[[V:.*]] = 0 to 512 {
// CHECK:       affine.vector_store %{{.*}}, %arg0[%[[B]] * 8 + %[[R]], %[[V]] * 8]
// CHECK:     } {dlc.parallel}
// CHECK:   } {dlc.parallel}
// CHECK-NOT: affine.for
// CHECK: return

// MIN-LABEL: func.func @rows
// MIN: affine.for %{{.*}} = 0 to 512 {
// MIN: } {dlc.parallel}
// MIN: affine.for %{{.*}} = 0 to 4096 {
func.func @rows(%x: memref<4096x4096xf64> {llvm.noalias}, %s: memref<4096xf64> {llvm.noalias}) {
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %a = affine.load %s[%i] : memref<4096xf64>
      %t = arith.addf %a, %v : f64
      affine.store %t, %s[%i] : memref<4096xf64>
    }
  }
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %a = affine.load %s[%i] : memref<4096xf64>
      %q = arith.divf %v, %a : f64
      affine.store %q, %x[%i, %j] : memref<4096x4096xf64>
    }
  }
  return
}

// -----

// Recurrences down and up the columns: 256 bytes of a line, so that lines and pages are used.
// CHECK-LABEL: func.func @columns
// CHECK: affine.for %[[B:.*]] = 0 to 128 {
// CHECK:   affine.for %[[I:.*]] = 1 to 4096 {
// CHECK:     affine.for %[[V:.*]] = 0 to 4 {
// CHECK:       affine.vector_store %{{.*}}, %arg1[%[[I]], %[[B]] * 32 + %[[V]] * 8]
// CHECK:   affine.for %[[K:.*]] = 1 to 4096 {
// CHECK:     affine.for %[[W:.*]] = 0 to 4 {
// CHECK:       affine.vector_store %{{.*}}, %arg0[-%[[K]] + 4096, %[[B]] * 32 + %[[W]] * 8]
// CHECK-NOT: affine.for
// CHECK: return
func.func @columns(%x: memref<4096x4096xf64> {llvm.noalias}, %y: memref<4096x4096xf64> {llvm.noalias}) {
  affine.for %i = 1 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %a = affine.load %y[%i - 1, %j] : memref<4096x4096xf64>
      %t = arith.addf %a, %v : f64
      affine.store %t, %y[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 1 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %y[4096 - %i, %j] : memref<4096x4096xf64>
      %a = affine.load %x[4095 - %i, %j] : memref<4096x4096xf64>
      %t = arith.addf %a, %v : f64
      affine.store %t, %x[4096 - %i, %j] : memref<4096x4096xf64>
    }
  }
  return
}

// -----

// The last cache holds these.
// CHECK-LABEL: func.func @small
// CHECK: affine.for %{{.*}} = 0 to 512 {
// CHECK: affine.for %{{.*}} = 0 to 512 {
func.func @small(%x: memref<512x512xf64> {llvm.noalias}, %y: memref<512x512xf64> {llvm.noalias}) {
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 512 {
      %v = affine.load %x[%i, %j] : memref<512x512xf64>
      %t = arith.addf %v, %v : f64
      affine.store %t, %y[%i, %j] : memref<512x512xf64>
    }
  }
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 512 {
      %v = affine.load %y[%i, %j] : memref<512x512xf64>
      %t = arith.mulf %v, %v : f64
      affine.store %t, %x[%i, %j] : memref<512x512xf64>
    }
  }
  return
}

// -----

// A row of the second nest reads two of the first.
// CHECK-LABEL: func.func @neighbours
// CHECK: affine.for %{{.*}} = 0 to 4096 {
// CHECK: affine.for %{{.*}} = 0 to 4095 {
func.func @neighbours(%x: memref<4096x4096xf64> {llvm.noalias}, %y: memref<4096x4096xf64> {llvm.noalias}) {
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %v = affine.load %x[%i, %j] : memref<4096x4096xf64>
      %t = arith.addf %v, %v : f64
      affine.store %t, %y[%i, %j] : memref<4096x4096xf64>
    }
  }
  affine.for %i = 0 to 4095 {
    affine.for %j = 1 to 4096 {
      %v = affine.load %y[%i, %j] : memref<4096x4096xf64>
      %w = affine.load %y[%i + 1, %j - 1] : memref<4096x4096xf64>
      %t = arith.mulf %v, %w : f64
      affine.store %t, %x[%i, %j] : memref<4096x4096xf64>
    }
  }
  return
}
