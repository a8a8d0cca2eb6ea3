// RUN: dlc-opt %s --linalg-place-carried-buffers --split-input-file --verify-diagnostics | filecheck %s
// Nothing can be allocated for a buffer whose rank is not known.

func.func @branch(%x: memref<*xf32>, %y: memref<*xf32>, %c: i1) {
  // expected-error@+1 {{'scf.if' hands on a buffer without rank, whose size nothing says; give it a ranked type}}
  %r = scf.if %c -> memref<*xf32> {
    scf.yield %x : memref<*xf32>
  } else {
    scf.yield %y : memref<*xf32>
  }
  return
}

// -----

// no-match: a private function is left alone.
// CHECK-LABEL: func.func private @inner
// CHECK: scf.if
func.func private @inner(%x: memref<*xf32>, %c: i1) {
  %r = scf.if %c -> memref<*xf32> {
    scf.yield %x : memref<*xf32>
  } else {
    scf.yield %x : memref<*xf32>
  }
  return
}
