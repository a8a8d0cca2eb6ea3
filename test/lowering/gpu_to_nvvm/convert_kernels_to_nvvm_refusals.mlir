// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-kernels-to-nvvm --split-input-file --verify-diagnostics | filecheck %s
// Kernels and launches that are written by hand: what is known of them is used, and no more.

// An argument of a block is none of the function: it may share its memory.
// CHECK-LABEL: gpu.module @inner
// CHECK: llvm.func @inner(%{{.*}}: !llvm.ptr)
module attributes {gpu.container_module} {
func.func @block(%c: index, %x: memref<8xf32> {llvm.noalias}) {
  cf.br ^b(%c, %x, %x : index, memref<8xf32>, memref<8xf32>)
^b(%i: index, %y: memref<8xf32>, %z: memref<8xf32>):
  gpu.launch_func @inner::@inner blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%z : memref<8xf32>)
  return
}
gpu.module @inner {
  gpu.func @inner(%a: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

// Launches with arguments of different number, of a kernel at level nvvm.
// CHECK-LABEL: func.func @launches
// CHECK-COUNT-2: gpu.launch_func @low::@low
module attributes {gpu.container_module} {
func.func @launches(%c: index, %x: memref<8xf32>) {
  gpu.launch_func @low::@low blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : memref<8xf32>)
  gpu.launch_func @low::@low blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : memref<8xf32>, %c : index)
  return
}
gpu.module @low {
  llvm.func @low(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
}

// -----

gpu.module @nothing {
  llvm.func @__nv_sqrtf()
  gpu.func @nothing() kernel {
    // expected-error@+1 {{the GPU has no instruction for '__nv_sqrtf'; compute it on the host, or in other ops}}
    llvm.call @__nv_sqrtf() : () -> ()
    gpu.return
  }
}

// -----

gpu.module @tiles {
  // expected-error@+1 {{no strides find the elements of an argument, memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>; run --normalize-memrefs first}}
  gpu.func @tiles(%a: memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>) kernel {
    gpu.return
  }
}
