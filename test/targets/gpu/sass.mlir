// RUN: dlc compile %s --target=gpu:sm_80 --emit=sass | filecheck %s --check-prefixes=CHECK,AMPERE
// RUN: dlc compile %s --target=gpu:sm_90 --emit=sass | filecheck %s --check-prefixes=CHECK,HOPPER
// RUN: dlc explain %s --target=gpu:sm_90 --json | filecheck %s --check-prefix=EXPLAIN
// REQUIRES: ptxas, nvdisasm
// The machine code of a model: exact products of f32 are fused multiply-adds, those of f16 go to tensor cores (by TMA on sm_90), none spills.

// CHECK: .text.kernel_1_matmul
// CHECK-NOT: {{LDL|STL}}
// CHECK: FFMA R
// CHECK-NOT: {{LDL|STL}}
// CHECK: .text.kernel_0_matmul
// CHECK-NOT: {{LDL|STL}}
// AMPERE: HMMA.16816.F32 R
// HOPPER: UTMALDG.2D
// HOPPER: HGMMA.64x{{[0-9]+}}x16.F32 R
// CHECK-NOT: {{LDL|STL}}

// What a launch asks for of shared memory counts: one block fits a multiprocessor.
// EXPLAIN: "tensor_cores": "m64n256k16.f16"
// EXPLAIN: "spill_bytes": 0
// EXPLAIN-NEXT: "shared_bytes": 196672
// EXPLAIN-NEXT: "occupancy": 0.14
func.func @main(%a: tensor<4096x1024xf16>, %b: tensor<1024x4096xf16>, %c: tensor<512x512xf32>, %d: tensor<512x512xf32>) -> (tensor<4096x4096xf16>, tensor<512x512xf32>) {
  %0 = "dl.matmul"(%a, %b) : (tensor<4096x1024xf16>, tensor<1024x4096xf16>) -> tensor<4096x4096xf16>
  %1 = "dl.matmul"(%c, %d) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0, %1 : tensor<4096x4096xf16>, tensor<512x512xf32>
}
