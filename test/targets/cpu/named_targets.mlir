// RUN: dlc compile %s --emit=asm --target=cpu:skylake-avx512 | filecheck %s --check-prefix=AVX512
// RUN: dlc compile %s --emit=asm --target=cpu:haswell | filecheck %s --check-prefix=AVX2
// RUN: dlc compile %s --emit=asm --target=cpu:ivybridge | filecheck %s --check-prefix=AVX
// RUN: dlc compile %s --emit=asm --target=cpu:generic | filecheck %s --check-prefix=SSE
// RUN: dlc compile %s --emit=asm --target=cpu:neoverse-n1 | filecheck %s --check-prefix=NEON
// RUN: dlc compile %s --emit=llvmir --target=cpu:apple-m1 | filecheck %s --check-prefix=IR
// REQUIRES: x86
// The same code generators give code for each register file, whatever machine compiles.

// AVX512: vfmadd231ps {{.*}}zmm
// AVX2-NOT: zmm
// AVX2: vfmadd231ps {{.*}}ymm
// AVX2-NOT: zmm
// AVX-NOT: {{vfmadd|zmm}}
// AVX: vmulps {{.*}}ymm
// AVX-NOT: {{vfmadd|zmm}}
// SSE-NOT: {{vfmadd|ymm|vmulps}}
// SSE: mulps {{.*}}xmm
// SSE-NOT: {{vfmadd|ymm|vmulps}}
// NEON: _mlir_ciface_main:
// NEON: fmla v{{[0-9]+}}.4s
// IR: attributes #{{[0-9]+}} = {{{.*}}"target-cpu"="apple-m1"
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>) -> tensor<64x128xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
