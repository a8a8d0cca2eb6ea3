// RUN: dlc-opt %s --verify-diagnostics "--affine-check-legality=before=%S/Inputs/check_legality_before.mlir"
// RUN: not dlc-opt %s "--affine-check-legality=before=%S/Inputs/none.mlir" 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not dlc-opt %s --affine-check-legality 2>&1 | filecheck %s --check-prefix=NEITHER
// RUN: not dlc-opt %s "--affine-check-legality=pass=cse proof=%t/none/x" 2>&1 | filecheck %s --check-prefix=PROOF
// PROOF: error: can't write '{{.*}}x': No such file or directory; give option proof a file in a folder
// Functions are compared with those of a file.
// NONE: error: can't read '{{.*}}none.mlir': No such file or directory; give option before a file of MLIR
// NEITHER: error: it has nothing to compare with; give it one of the options pass and before

func.func private @opaque(memref<32xf64>)

// A sum of integers may be taken from the end.
func.func @sum(%a: memref<8x4xi32>, %s: memref<8xi32> {llvm.noalias}) {
  affine.for %k = 0 to 4 {
    affine.for %i = 0 to 8 {
      %x = affine.load %a[%i, 3 - %k] : memref<8x4xi32>
      %y = affine.load %s[%i] : memref<8xi32>
      %z = arith.addi %x, %y : i32
      affine.store %z, %s[%i] : memref<8xi32>
    }
  }
  return
}

// What fusion makes of llvm/llvm-project issue 211591, where it does not crash: a later call may write what was read too early.
func.func @calls(%in: memref<32xf64>, %comm: memref<32xf64> {llvm.noalias}, %out: memref<32xf64> {llvm.noalias}) {
  affine.for %i = 0 to 16 {
    %a = affine.load %in[%i] : memref<32xf64>
    affine.store %a, %comm[%i] : memref<32xf64>
    // expected-error @+1 {{the change would change %out[0]: a value would come from 'func.call'[15, 0]}}
    func.call @opaque(%comm) : (memref<32xf64>) -> ()
    %b = affine.load %comm[%i] : memref<32xf64>
    affine.store %b, %out[%i] : memref<32xf64>
  }
  return
}
