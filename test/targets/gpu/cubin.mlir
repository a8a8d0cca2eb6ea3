// RUN: dlc compile %s --target=gpu:sm_80 --emit=cubin -o %t.cubin
// RUN: %python -c "import sys; assert open(sys.argv[1], 'rb').read(4) == b'\x7fELF'" %t.cubin
// RUN: dlc compile %s --target=gpu:sm_100 --emit=cubin -o %t.cubin
// RUN: dlc explain %s --target=gpu:sm_90 --json | filecheck %s
// REQUIRES: ptxas
// NVIDIA's assembler takes all kernels of a model in one text; explain tells what they take of a multiprocessor.

// CHECK: "device": "sm_90"
// CHECK: "uncoalesced": 0
// CHECK: "registers": {{[1-9]}}
// CHECK: "spill_bytes": 0
// CHECK: "occupancy": {{[01]\.}}
func.func @main(%a: tensor<4x64x96xf32>, %b: tensor<96x128xf32>) -> (tensor<4x64x128xf32>, tensor<4x64xf32>) {
  %0 = "dl.matmul"(%a, %b) : (tensor<4x64x96xf32>, tensor<96x128xf32>) -> tensor<4x64x128xf32>
  %1 = "dl.softmax"(%0) {axis = 2} : (tensor<4x64x128xf32>) -> tensor<4x64x128xf32>
  %2 = "dl.reduce_sum"(%1) {axes = array<i64: 2>} : (tensor<4x64x128xf32>) -> tensor<4x64xf32>
  return %1, %2 : tensor<4x64x128xf32>, tensor<4x64xf32>
}
