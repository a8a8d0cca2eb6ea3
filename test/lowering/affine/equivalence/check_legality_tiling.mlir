// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass='affine-loop-tile{tile-sizes=2,2}' assume-no-alias"
// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass='affine-loop-unroll-jam{unroll-jam-factor=2}' assume-no-alias"
// RUN: dlc-opt %s --split-input-file "--affine-check-legality=pass='affine-loop-tile{tile-sizes=2,2}' assume-no-alias on-refusal=keep" | filecheck %s
// Upstream tiles, unrolls and jams bands whose inner loop a dependence runs against.

#product = affine_map<()[s0, s1] -> (s0 * s1)>
// After llvm/llvm-project issue 210585: which plane of the array it is, upstream's analysis cannot say.
// CHECK-LABEL: func.func @unknown_plane
// CHECK-COUNT-2: affine.for
// CHECK-NOT: affine.for
func.func @unknown_plane(%a: memref<?x9x9xi32>, %b: memref<9x9xi32>, %p: index, %q: index, %value: i32) {
  affine.for %i = 1 to 8 {
    affine.for %j = 1 to 8 {
      %z = affine.apply #product()[%p, %q]
      affine.store %value, %a[%z, %i, %j] : memref<?x9x9xi32>
      // expected-error @+1 {{before S0[i0=1, i1=}}
      %old = affine.load %a[%z, %i - 1, %j + 1] : memref<?x9x9xi32>
      affine.store %old, %b[%i, %j] : memref<9x9xi32>
    }
  }
  return
}

// -----

// After pull requests 192858, 196972 and 196554: a distance of exactly (1, -1).
// CHECK-LABEL: func.func @exact_distance
// CHECK-COUNT-2: affine.for
// CHECK-NOT: affine.for
func.func @exact_distance(%a: memref<6x6xi32>) {
  affine.for %i = 1 to 5 {
    affine.for %j = 0 to 4 {
      // expected-error @+1 {{would run S0[i0=2, i1=}}
      %0 = affine.load %a[%i - 1, %j + 1] : memref<6x6xi32>
      affine.store %0, %a[%i, %j] : memref<6x6xi32>
    }
  }
  return
}

// -----

// A distance of (1, 1) allows both.
// CHECK-LABEL: func.func @both_forward
// CHECK-COUNT-4: affine.for
func.func @both_forward(%a: memref<6x6xi32>) {
  affine.for %i = 1 to 5 {
    affine.for %j = 1 to 5 {
      %0 = affine.load %a[%i - 1, %j - 1] : memref<6x6xi32>
      affine.store %0, %a[%i, %j] : memref<6x6xi32>
    }
  }
  return
}
