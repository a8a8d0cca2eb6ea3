// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-localize-padding --split-input-file | filecheck %s

// no-match: a nest that reads the padding before the copy is made.
// CHECK-LABEL: func.func private @early(
// CHECK: memref.alloc() : memref<2050x2050xf32>
// CHECK-NOT: memref.alloc
func.func private @early(%x: memref<2048x2048xf32> {llvm.noalias}, %y: memref<1024x2050xf32> {llvm.noalias}) {
  %cst = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<2050x2050xf32>
  affine.for %i = 0 to 2050 {
    affine.for %j = 0 to 2050 {
      affine.store %cst, %p[%i, %j] : memref<2050x2050xf32>
    }
  }
  affine.for %r = 0 to 1024 {
    affine.for %j = 0 to 2050 {
      %a = affine.load %p[%r * 2 + 1, %j] : memref<2050x2050xf32>
      affine.store %a, %y[%r, %j] : memref<1024x2050xf32>
    }
  } {dlc.parallel}
  affine.for %i = 0 to 2048 {
    affine.for %j = 0 to 2048 {
      %v = affine.load %x[%j, %i] : memref<2048x2048xf32>
      affine.store %v, %p[%i + 1, %j + 1] : memref<2050x2050xf32>
    }
  }
  memref.dealloc %p : memref<2050x2050xf32>
  return
}

// -----

// no-match: what is written may be what is copied.
// CHECK-LABEL: func.func private @aliased(
// CHECK: memref.alloc() : memref<2050x2050xf32>
// CHECK-NOT: memref.alloc
func.func private @aliased(%x: memref<2048x2048xf32>, %y: memref<1024x2050xf32>) {
  %cst = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<2050x2050xf32>
  affine.for %i = 0 to 2050 {
    affine.for %j = 0 to 2050 {
      affine.store %cst, %p[%i, %j] : memref<2050x2050xf32>
    }
  }
  affine.for %i = 0 to 2048 {
    affine.for %j = 0 to 2048 {
      %v = affine.load %x[%j, %i] : memref<2048x2048xf32>
      affine.store %v, %p[%i + 1, %j + 1] : memref<2050x2050xf32>
    }
  }
  affine.for %r = 0 to 1024 {
    affine.for %j = 0 to 2050 {
      %a = affine.load %p[%r * 2 + 1, %j] : memref<2050x2050xf32>
      affine.store %a, %y[%r, %j] : memref<1024x2050xf32>
    }
  } {dlc.parallel}
  memref.dealloc %p : memref<2050x2050xf32>
  return
}
