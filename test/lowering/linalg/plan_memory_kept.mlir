// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-plan-memory | filecheck %s
// RUN: not dlc-opt %s --linalg-plan-memory=nominal=0 2>&1 | filecheck %s --check-prefix=NOMINAL
// Buffers that a function hands on stay its own; calls that return memory of their own do not keep the others out.

// NOMINAL: error: {{.*}}nominal is 0; give 1 or more

func.func private @fresh(%x: memref<64xf32>) -> memref<64xf32> {
  %r = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%r : memref<64xf32>)
  return %r : memref<64xf32>
}
func.func private @same(%x: memref<64xf32>) -> memref<64xf32> {
  return %x : memref<64xf32>
}

// CHECK-LABEL: func.func @calls
// CHECK: memref.alloc() : memref<512xi8>
// CHECK-COUNT-2: memref.view
// CHECK-NOT: memref.view
func.func @calls(%x: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  %r = call @fresh(%a) : (memref<64xf32>) -> memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  linalg.add ins(%a, %r : memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>)
  %c = memref.alloc() : memref<64xf32>
  linalg.add ins(%b, %r : memref<64xf32>, memref<64xf32>) outs(%c : memref<64xf32>)
  return %c : memref<64xf32>
}

// no-match: one buffer is handed back by a call, the other by a branch.
// CHECK-LABEL: func.func @handed_on
// CHECK-NOT: memref.view
func.func @handed_on(%x: memref<64xf32>, %flag: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  %r = call @same(%a) : (memref<64xf32>) -> memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  linalg.exp ins(%r : memref<64xf32>) outs(%b : memref<64xf32>)
  %s = scf.if %flag -> (memref<64xf32>) {
    scf.yield %b : memref<64xf32>
  } else {
    scf.yield %r : memref<64xf32>
  }
  %v = memref.load %s[%c0] : memref<64xf32>
  return %v : f32
}
