// RUN: not dlc-opt %s --cse --affine-loop-tile=tile-sizes=0 --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s
// RUN: not dlc-opt --run-reproducer %t.mlir --mlir-pass-pipeline-crash-reproducer=%t.again.mlir 2>&1 | filecheck %s
// REQUIRES: x86
// Upstream's tiling divides by a tile size of zero: the crash ends in a message and a reproducer.

// CHECK: error: pass 'affine-loop-tile' crashed (SIGFPE)
// CHECK-NEXT: note: reproducer written; replay with: dlc-opt --run-reproducer {{.*}}.mlir
// CHECK-NOT: Traceback
func.func @f(%m: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %x = affine.load %m[%i, %j] : memref<8x8xf32>
      affine.store %x, %m[%i, %j] : memref<8x8xf32>
    }
  }
  return
}
