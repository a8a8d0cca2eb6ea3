// RUN: dlc-opt %s "--affine-bind-loop=loop=i unit=block.x" --split-input-file --verify-diagnostics | filecheck %s
// RUN: not dlc-opt %s "--affine-bind-loop=loop=i unit=warp" --split-input-file 2>&1 | filecheck %s --check-prefix=UNIT
// A loop without dependences between iterations becomes the blocks of a grid; a chain of iterations is refused.

// UNIT: error: {{.*}}a loop cannot be bound to 'warp'; use one of block.x, block.y

// CHECK-LABEL: func.func @bind(
// CHECK: affine.for %[[I:.*]] = 0 to 100 {
// CHECK: affine.store %{{.*}}, %{{.*}}[%[[I]]] : memref<100xf32>
// CHECK: } {dlc.name = "kernel0.block.x", dlc.parallel}
func.func @bind(%A: memref<100xf32>) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100xf32>) {
  affine.for %i = 1 to 100 {
    // expected-error@below {{the new order would run S0[i0=2]}}
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}

// -----

// expected-error@below {{the loops store nothing, so that there is no order to change; let them store, or take them out}}
func.func @loads_alone(%A: memref<100xf32>) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}
