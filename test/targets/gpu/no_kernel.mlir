// RUN: not dlc compile %s --target=gpu:sm_90 --emit=ptx 2>&1 | filecheck %s
// Where no loop can be mapped, the error names the function and the reason.

// CHECK: error: the module has no kernel for a GPU ('main' stays on the CPU: {{.*}}); write loops that carry no dependence, or name a CPU
func.func @main(%a: memref<64xf32>) {
  affine.for %i = 1 to 64 {
    %0 = affine.load %a[%i - 1] : memref<64xf32>
    affine.store %0, %a[%i] : memref<64xf32>
  }
  return
}
