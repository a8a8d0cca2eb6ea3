// RUN: dlc compile %s --target=gpu:sm_90 --emit=ptx | filecheck %s --check-prefix=PTX
// RUN: dlc compile %s --target=gpu:sm_90 | filecheck %s --check-prefix=PTX
// RUN: dlc compile %s --target=gpu:sm_90 --emit=nvvm | filecheck %s --check-prefix=NVVM
// RUN: dlc compile %s --target=gpu:sm_90 --emit=llvmir | filecheck %s --check-prefix=LLVM
// RUN: env DLC_CUDA_LIBRARY=libnothing.so dlc compile %s --target=gpu --emit=gpu -o %t.mlir
// RUN: dlc compile %t.mlir --target=gpu --emit=ptx | filecheck %s --check-prefix=AGAIN
// RUN: env DLC_CUDA_LIBRARY=libnothing.so not dlc run %s --target=gpu:sm_90 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not dlc compile %s --target=gpu --emit=obj 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not dlc compile %s --target=gpu --emit=schedule 2>&1 | filecheck %s --check-prefix=SCHEDULE
// A model reaches PTX by name of the GPU, from any level; without a driver it does not run.

// PTX: .target sm_90
// PTX: .visible .entry kernel_0_matmul_relu
// NVVM: gpu.launch_func
// NVVM: gpu.module @{{.*}} [#nvvm.target<{{.*}}chip = "sm_90"
// NVVM: llvm.func @kernel_0_matmul_relu
// LLVM: define ptx_kernel void @kernel_0_matmul_relu
// LLVM: call {{.*}} @llvm.nvvm.read.ptx.sreg.tid.x()
// AGAIN: .target sm_80
// REFUSED: error: models cannot run on 'gpu:sm_90' here: there is no driver {{.*}} dlc compile --target gpu:sm_90 --emit=ptx writes the kernels
// FORM: target 'gpu' has no 'obj'; give one of dl, linalg, affine, gpu, nvvm, ptx, llvmir, cubin, sass
// SCHEDULE: error: kernels get no schedules for target 'gpu'; name a CPU
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>) -> tensor<64x128xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  %1 = "dl.relu"(%0) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
