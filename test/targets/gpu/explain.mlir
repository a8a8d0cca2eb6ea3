// RUN: dlc explain %s --target=gpu:sm_90 --json | filecheck %s
// RUN: env COLUMNS=200 dlc explain %s --target=gpu:sm_90 | filecheck %s --check-prefix=TABLE
// What the kernels of a GPU ask of it, without one.

// CHECK: "device": {
// CHECK-NEXT: "device": "sm_90"
// CHECK: "name": "kernel_0_transpose_kernel"
// CHECK-NEXT: "function": "kernel_0_transpose"
// CHECK: "accesses": 2
// CHECK-NEXT: "uncoalesced": 1
// CHECK: "bank_ways": 0
// CHECK: "on_host": {}
// TABLE: Roofline
// TABLE: FLOP/byte
// TABLE: kernel_0_transpose
// TABLE-SAME: launch
// TABLE: Kernels of the GPU (sm_90)
// TABLE: kernel_0_transpose_kernel
// TABLE: 1 kernels for sm_90: {{.*}}1 have uncoalesced accesses, 0 bank conflicts above 2-way
func.func @main(%a: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %0 = "dl.transpose"(%a) {perm = array<i64: 1, 0>} : (tensor<64x96xf32>) -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}
