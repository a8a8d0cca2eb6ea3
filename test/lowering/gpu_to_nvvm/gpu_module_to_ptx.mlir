// RUN: dlc-opt %s --gpu-module-to-ptx --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %S/Inputs/rows.mlir --dl-set-target=target=gpu:sm_90 --affine-to-gpu --gpu-to-ptx | filecheck %s --check-prefix=ROWS

// CHECK: gpu.binary @k [#gpu.object<#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">, assembly = "
// CHECK-SAME: .version 7.0\0A.target sm_80
// CHECK-SAME: .visible .entry f(
// CHECK-SAME: %tid.x
// CHECK-SAME: st.global.b32
gpu.module @k [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">] {
  llvm.func @f(%arg0: !llvm.ptr, %arg1: f32) attributes {nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = llvm.sext %0 : i32 to i64
    %2 = llvm.getelementptr %arg0[%1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %arg1, %2 : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// no-match: there are no kernels.
// CHECK-LABEL: func.func @plain
func.func @plain() {
  return
}

// -----

gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{needs ops of llvm and nvvm, found 'gpu.func'; run convert-kernels-to-nvvm first}}
  gpu.func @f() kernel {
    gpu.return
  }
}

// -----

// expected-error@below {{the module of kernels does not say which GPU it is for; run convert-kernels-to-nvvm first}}
gpu.module @k {
  llvm.func @f() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error@below {{the kernels call missing, which no library of the GPU has}}
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  llvm.func @missing()
  llvm.func @f() attributes {nvvm.kernel} {
    llvm.call @missing() : () -> ()
    llvm.return
  }
}

// -----

gpu.module @k [#nvvm.target<chip = "sm_80">] {
  llvm.func @f(%p: !llvm.ptr, %i: i64) attributes {nvvm.kernel} {
    // expected-error@below {{LLVM has no type !llvm.array<2 x memref<4xf32>>; name one of its own}}
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x memref<4xf32>>
    llvm.return
  }
}

// The whole way: 150 columns and 1024 rows in blocks of 32 by 8 threads. Neighbours in a warp (tid.x) are four bytes apart, rows 600;
// the threads of the last block that are beyond column 149 do nothing. What is only read goes through the read-only cache.
// ROWS: gpu.launch_func @scale_kernel::@scale_kernel blocks in (%c5, %c128, %c1) threads in (%c32, %c8, %c1)
// ROWS: gpu.binary @scale_kernel [#gpu.object<#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">, assembly = "
// ROWS-SAME: .maxntid 32, 8, 1
// ROWS-SAME: mov.u32 \09%[[BX:r[0-9]+]], %ctaid.x;
// ROWS-SAME: mov.u32 \09%[[TX:r[0-9]+]], %tid.x;
// ROWS-SAME: cvt.u64.u32 \09%[[T:rd[0-9]+]], %[[TX]];
// ROWS-SAME: setp.lt.s64 \09%[[P:p[0-9]+]], %{{rd[0-9]+}}, -149;
// ROWS-SAME: @%[[P]] bra
// ROWS-SAME: or.b64 \09%[[J:rd[0-9]+]], %{{rd[0-9]+}}, %[[T]];
// ROWS-SAME: mul.wide.u32 \09%[[ROW:rd[0-9]+]], %{{r[0-9]+}}, 150;
// ROWS-SAME: add.s64 \09%[[AT:rd[0-9]+]], %[[J]], %[[ROW]];
// ROWS-SAME: shl.b64 \09%[[BYTES:rd[0-9]+]], %[[AT]], 2;
// ROWS-SAME: add.s64 \09%[[A:rd[0-9]+]], %{{rd[0-9]+}}, %[[BYTES]];
// ROWS-SAME: ld.global.nc.b32 \09%{{r[0-9]+}}, [%[[A]]];
// ROWS-SAME: st.global.b32

// -----

// expected-error@+1 {{the module of kernels is for several GPUs; state one target}}
gpu.module @k [#nvvm.target<chip = "sm_90">, #nvvm.target<chip = "sm_80">] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
