// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-localize-padding --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-check-legality=pass=affine-localize-padding --split-input-file -o /dev/null
// Rows are padded where they are read. The pass refuses nothing.

// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[X:.*]]: memref<64x256x256xf32>
// CHECK-NOT: memref<258x258x64xf32>
// CHECK: affine.for %[[R:.*]] = 0 to 128 {
// CHECK:   %[[Q:.*]] = memref.alloc() : memref<4x258x64xf32>
// Padded rows above the first row and below the last one.
// CHECK:   affine.for %{{.*}} = 0 to min #[[ABOVE:.*]](%[[R]]) {
// CHECK:     affine.store %cst, %[[Q]]
// CHECK:   affine.for %{{.*}} = max #[[BELOW:.*]](%[[R]]) to 4 {
// CHECK:     affine.store %cst, %[[Q]]
// Padding beside the rows.
// CHECK:   affine.store %cst, %[[Q]][%{{.*}}, 0, %{{.*}}]
// CHECK:   affine.store %cst, %[[Q]][%{{.*}}, 257, %{{.*}}]
// CHECK:   affine.for %[[I:.*]] = max #{{.*}}(%[[R]]) to min #{{.*}}(%[[R]]) {
// CHECK:     affine.for %[[J:.*]] = 0 to 256 {
// CHECK:       affine.for %[[C:.*]] = 0 to 64 {
// CHECK:         %[[V:.*]] = affine.load %[[X]][%[[C]], %[[R]] * 2 + %[[I]] - 1, %[[J]]]
// CHECK:         affine.store %[[V]], %[[Q]][%[[I]], %[[J]] + 1, %[[C]]]
// CHECK:   affine.for %[[T:.*]] = 0 to 128 {
// CHECK:     affine.for %[[C:.*]] = 0 to 64 {
// CHECK:       affine.load %[[Q]][0, %[[T]] * 2 + 3, %[[C]]]
// CHECK:       affine.load %[[Q]][3, %[[T]] * 2, %[[C]]]
// CHECK:   memref.dealloc %[[Q]]
func.func private @rows(%x: memref<64x256x256xf32> {llvm.noalias}, %y: memref<128x128x64xf32> {llvm.noalias}) {
  %cst = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<258x258x64xf32>
  affine.for %i = 0 to 258 {
    affine.for %j = 0 to 258 {
      affine.for %c = 0 to 64 {
        affine.store %cst, %p[%i, %j, %c] : memref<258x258x64xf32>
      }
    }
  }
  %inside = memref.subview %p[1, 1, 0] [256, 256, 64] [1, 1, 1] : memref<258x258x64xf32> to memref<256x256x64xf32, strided<[16512, 64, 1], offset: 16576>>
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 256 {
      affine.for %c = 0 to 64 {
        %v = affine.load %x[%c, %i, %j] : memref<64x256x256xf32>
        affine.store %v, %inside[%i, %j, %c] : memref<256x256x64xf32, strided<[16512, 64, 1], offset: 16576>>
      }
    }
  }
  affine.for %r = 0 to 128 {
    affine.for %t = 0 to 128 {
      affine.for %c = 0 to 64 {
        %a = affine.load %p[%r * 2, %t * 2 + 3, %c] : memref<258x258x64xf32>
        %b = affine.load %p[%r * 2 + 3, %t * 2, %c] : memref<258x258x64xf32>
        %s = arith.addf %a, %b : f32
        affine.store %s, %y[%r, %t, %c] : memref<128x128x64xf32>
      }
    }
  } {dlc.parallel}
  memref.dealloc %p : memref<258x258x64xf32>
  return
}

// -----

// no-match: rows that would be padded five times, a small image.
// CHECK-LABEL: func.func private @others(
// CHECK: %[[P:.*]] = memref.alloc() : memref<1030x1030xf32>
// CHECK: %[[S:.*]] = memref.alloc() : memref<34x34xf32>
// CHECK-NOT: memref.alloc
func.func private @others(%x: memref<1024x1024xf32> {llvm.noalias}, %z: memref<32x32xf32> {llvm.noalias},
                          %y: memref<1026x1024xf32> {llvm.noalias}) {
  %cst = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<1030x1030xf32>
  affine.for %i = 0 to 1030 {
    affine.for %j = 0 to 1030 {
      affine.store %cst, %p[%i, %j] : memref<1030x1030xf32>
    }
  }
  %inside = memref.subview %p[3, 3] [1024, 1024] [1, 1] : memref<1030x1030xf32> to memref<1024x1024xf32, strided<[1030, 1], offset: 3093>>
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %v = affine.load %x[%i, %j] : memref<1024x1024xf32>
      affine.store %v, %inside[%i, %j] : memref<1024x1024xf32, strided<[1030, 1], offset: 3093>>
    }
  }
  affine.for %r = 0 to 1026 {
    affine.for %j = 0 to 1024 {
      %a = affine.load %p[%r, %j] : memref<1030x1030xf32>
      %b = affine.load %p[%r + 4, %j + 1] : memref<1030x1030xf32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %y[%r, %j] : memref<1026x1024xf32>
    }
  } {dlc.parallel}
  %q = memref.alloc() : memref<34x34xf32>
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 34 {
      affine.store %cst, %q[%i, %j] : memref<34x34xf32>
    }
  }
  %middle = memref.subview %q[1, 1] [32, 32] [1, 1] : memref<34x34xf32> to memref<32x32xf32, strided<[34, 1], offset: 35>>
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %v = affine.load %z[%i, %j] : memref<32x32xf32>
      affine.store %v, %middle[%i, %j] : memref<32x32xf32, strided<[34, 1], offset: 35>>
    }
  }
  affine.for %r = 0 to 16 {
    affine.for %j = 0 to 32 {
      %a = affine.load %q[%r * 2 + 1, %j + 2] : memref<34x34xf32>
      affine.store %a, %y[%r, %j] : memref<1026x1024xf32>
    }
  } {dlc.parallel}
  memref.dealloc %p : memref<1030x1030xf32>
  memref.dealloc %q : memref<34x34xf32>
  return
}
