// RUN: dlc-opt %s --split-input-file --verify-diagnostics --gpu-place-copies | filecheck %s
// Entries that get no places: of several blocks, with tokens, with buffers that have no rank.

// expected-error@+1 {{the function has several blocks, so that its end is not one; write its branches as scf.if}}
func.func @two_ends(%c: i1, %x: memref<8xf32>) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}

// -----

func.func @token(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error@+1 {{'gpu.wait' runs asynchronously, and the runtime does all in order; write it without tokens}}
  %before = gpu.wait async
  %t = gpu.memcpy async [%before] %y, %x : memref<8xf32>, memref<8xf32>
  gpu.wait [%t]
  return
}

// -----

func.func @unranked(%x: memref<*xf32>, %y: memref<8xf32>) {
  %z = memref.cast %y : memref<8xf32> to memref<*xf32>
  // expected-error@+1 {{nothing says what size a buffer without rank has; give it a ranked type}}
  memref.copy %x, %z : memref<*xf32> to memref<*xf32>
  return
}

// -----

// no-match: private functions are no entries.
// CHECK-LABEL: func.func private @blocks
// CHECK: cf.br
func.func private @blocks(%x: memref<*xf32>) {
  cf.br ^a
^a:
  return
}
