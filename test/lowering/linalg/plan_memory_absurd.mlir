// RUN: dlc-opt %s --linalg-plan-memory --split-input-file --verify-diagnostics
// Buffers that no machine can address make no arena.

func.func @calls(%x: memref<9223372036854775807xf32>) -> memref<9223372036854775807xf32> {
  // expected-error @+1 {{the buffers take 73786976294838206464 bytes, more than any machine can address; make the sizes smaller}}
  %a = memref.alloc() : memref<9223372036854775807xf32>
  linalg.exp ins(%x : memref<9223372036854775807xf32>) outs(%a : memref<9223372036854775807xf32>)
  %b = memref.alloc() : memref<9223372036854775807xf32>
  linalg.exp ins(%a : memref<9223372036854775807xf32>) outs(%b : memref<9223372036854775807xf32>)
  %c = memref.alloc() : memref<9223372036854775807xf32>
  linalg.add ins(%a, %b : memref<9223372036854775807xf32>, memref<9223372036854775807xf32>) outs(%c : memref<9223372036854775807xf32>)
  return %c : memref<9223372036854775807xf32>
}

// -----

func.func private @mix(memref<?x9223372036854775807xf32>, memref<64xf32>)
func.func @rows(%x: memref<?x9223372036854775807xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x9223372036854775807xf32>
  // expected-error @+1 {{a buffer takes a multiple of 36893488147419103228 bytes, more than any machine can address; make the sizes smaller}}
  %a = memref.alloc(%n) : memref<?x9223372036854775807xf32>
  %b = memref.alloc() : memref<64xf32>
  call @mix(%a, %b) : (memref<?x9223372036854775807xf32>, memref<64xf32>) -> ()
  return
}
