// RUN: dlc-opt %s --cse --canonicalize="max-iterations=3 top-down=false" --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s
// RUN: dlc-opt -cse -canonicalize='{max-iterations=3 top-down=false}' -dump-pass-pipeline %s -o /dev/null 2>&1 | filecheck %s
// RUN: dlc-opt %s --affine-loop-unroll="unroll-factor=2" --dump-pass-pipeline | filecheck %s --check-prefix=UNROLL
// Passes run in the order of their flags, with one dash or two; a pass on functions is nested by itself.

// CHECK: Pass Manager with 2 passes:
// CHECK-NEXT: builtin.module(cse,canonicalize{max-iterations=3 top-down=false})

// UNROLL-LABEL: func.func @f
// UNROLL: affine.for %{{.*}} = 0 to 8 step 2
func.func @f(%m: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %m[%i] : memref<8xf32>
    affine.store %x, %m[%i] : memref<8xf32>
  }
  return
}
