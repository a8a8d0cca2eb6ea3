// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass='affine-loop-tile{tile-size=4}'"
// RUN: dlc-opt %s --split-input-file "--affine-check-legality=pass='affine-loop-tile{tile-size=4}' on-refusal=keep" | filecheck %s
// A result that computes something else, or cannot be compared, is refused; with on-refusal=keep the IR stays as it was.

// CHECK-LABEL: func.func @diagonal
// CHECK: affine.for %{{.*}} = 1 to 8 {
func.func @diagonal(%a: memref<9x9xf32>) {
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 8 {
      // expected-error @+1 {{affine-loop-tile would run S0[i0=2, i1=3] (-:11:12) before S0[i0=1, i1=4] (-:13:7), which writes the %arg0[1, 4] that it reads (flow dependence, distance (1, -1))}}
      %x = affine.load %a[%i - 1, %j + 1] : memref<9x9xf32>
      %y = arith.mulf %x, %x : f32
      affine.store %y, %a[%i, %j] : memref<9x9xf32>
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @unmarked
// CHECK: affine.for %{{.*}} = 0 to 9 {
func.func @unmarked(%a: memref<9xf32>, %b: memref<9xf32>) {
  affine.for %i = 0 to 9 {
    // expected-error @+1 {{the result of affine-loop-tile cannot be compared: it touches a memref that may share memory with %arg1, which is written here; mark the arguments {llvm.noalias}, or pass assume-no-alias}}
    %x = affine.load %a[%i] : memref<9xf32>
    affine.store %x, %b[%i] : memref<9xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @gather
// CHECK: affine.for %{{.*}} = 0 to 9 {
func.func @gather(%a: memref<9xf32>, %k: memref<9xindex>, %b: memref<9xf32> {llvm.noalias}) {
  affine.for %i = 0 to 9 {
    %at = affine.load %k[%i] : memref<9xindex>
    // expected-error @+1 {{cannot be compared: an index is computed or read inside the loops and is not affine in their variables}}
    %x = memref.load %a[%at] : memref<9xf32>
    affine.store %x, %b[%i] : memref<9xf32>
  }
  return
}
