// RUN: dlc compile %s --target=gpu:sm_80 --emit=ptx | filecheck %s
// RUN: dlc compile %s --target=gpu:sm_90 --emit=ptx --precision=tf32 | filecheck %s --check-prefix=TF32
// RUN: dlc explain %s --target=gpu:sm_80 --json | filecheck %s --check-prefix=EXPLAIN
// Products of f16 reach the tensor cores of a GPU from the graph; those of f32 where tf32 is asked for.

// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: tf32
// TF32: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// EXPLAIN: "uncoalesced": 0
// EXPLAIN: "bank_ways": 1
// EXPLAIN-NEXT: "tensor_cores": "m16n8k16.f16"
func.func @main(%a: tensor<256x512xf16>, %b: tensor<512x384xf16>, %c: tensor<256x512xf32>, %d: tensor<512x384xf32>) -> (tensor<256x384xf16>, tensor<256x384xf32>) {
  %0 = "dl.matmul"(%a, %b) : (tensor<256x512xf16>, tensor<512x384xf16>) -> tensor<256x384xf16>
  %1 = "dl.relu"(%0) : (tensor<256x384xf16>) -> tensor<256x384xf16>
  %2 = "dl.matmul"(%c, %d) : (tensor<256x512xf32>, tensor<512x384xf32>) -> tensor<256x384xf32>
  return %1, %2 : tensor<256x384xf16>, tensor<256x384xf32>
}
