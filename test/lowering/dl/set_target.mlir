// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-set-target=target=generic | filecheck %s --check-prefix=LAST
// RUN: dlc-opt %s --dl-set-target | filecheck %s --check-prefix=NATIVE
// RUN: not dlc-opt %s --dl-set-target=target=cpu:haswel 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-set-target=target=gpu:sm_90 | filecheck %s --check-prefix=BOTH
// RUN: not dlc-opt %s --dl-set-target=target=gpu:sm_91 2>&1 | filecheck %s --check-prefix=NOGPU
// A module states its target as facts, which replace those that it stated before.

// CHECK: module attributes {dlc.target = {arch = "x86_64", cores = 4 : i64,
// CHECK-SAME: features = ["avx", "avx2", "f16c", "fma",
// CHECK-SAME: processor = "haswell"

// LAST-NOT: avx
// LAST: processor = "x86-64"

// no-match: this machine has no name, so that LLVM takes it as it finds it.
// NATIVE: dlc.target = {arch =
// NATIVE-SAME: processor = ""

// UNKNOWN: error: unknown target 'cpu:haswel'; did you mean 'cpu:haswell'? (targets: cpu, cpu:native, cpu:x86-64,
// UNKNOWN: note: pass 'dl-set-target' failed

// A GPU is beside the CPU that runs the rest.
// BOTH: module attributes {dlc.gpu = {
// BOTH-SAME: chip = "sm_90"
// BOTH-SAME: dlc.target = {
// BOTH-SAME: processor = "haswell"

// NOGPU: error: unknown target 'gpu:sm_91'; did you mean 'gpu:sm_90'? (targets: gpu, gpu:sm_70,

// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
