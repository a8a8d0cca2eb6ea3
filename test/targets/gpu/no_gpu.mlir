// RUN: env DLC_CUDA_LIBRARY=libnothing.so not dlc run %s --target gpu 2>&1 | filecheck %s
// RUN: env DLC_CUDA_LIBRARY=libnothing.so not dlc bench %s --target gpu:sm_90 2>&1 | filecheck %s --check-prefix=BENCH
// RUN: env DLC_CUDA_LIBRARY=libnothing.so dlc targets | filecheck %s --check-prefix=TARGETS
// Without a GPU one line says what is missing and what works.

// CHECK: error: models cannot run on 'gpu' here: there is no driver of NVIDIA's: libnothing.so cannot be loaded; what works without it: dlc compile --target gpu --emit=ptx writes the kernels, dlc explain --target gpu tells of them, and --target cpu runs the model
// CHECK-NOT: Traceback
// BENCH: error: models cannot run on 'gpu:sm_90' here: there is no driver
// TARGETS: gpu:sm_90 {{.*}}no: there is no driver
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
