// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-kernels-to-nvvm --split-input-file --verify-diagnostics | filecheck %s

// The module says which GPU it is for. Arguments that share no memory say so; functions with an instruction become that.
// CHECK: gpu.module @k [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">] {
// CHECK-NOT: __nv_
// CHECK: llvm.func @f(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr, %arg2: f32) attributes {
// CHECK-SAME: nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[A:.*]] = llvm.load
// CHECK: %[[S:.*]] = llvm.intr.sqrt(%[[A]])
// CHECK: %[[M:.*]] = llvm.intr.maxnum(%[[S]], %arg2)
// CHECK: llvm.store %[[M]]
module attributes {gpu.container_module} {
  func.func @host(%A: memref<64xf32> {llvm.noalias}, %B: memref<64xf32>, %x: f32) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : memref<64xf32>, %B : memref<64xf32>, %x : f32)
    return
  }
  gpu.module @k {
    gpu.func @f(%A: memref<64xf32>, %B: memref<64xf32>, %x: f32) kernel {
      %t = gpu.thread_id x
      %a = affine.load %A[%t] : memref<64xf32>
      %s = math.sqrt %a : f32
      %m = arith.maxnumf %s, %x : f32
      affine.store %m, %B[%t] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// A memref of dynamic size brings its sizes along.
// CHECK: llvm.func @dynamic(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: f32)
gpu.module @k {
  gpu.func @dynamic(%A: memref<?xf32>, %x: f32) kernel {
    %t = gpu.thread_id x
    affine.store %x, %A[%t] : memref<?xf32>
    gpu.return
  }
}

// -----

// Vectors start at what divides all their subscripts, up to 16 bytes; where a memref starts somewhere, and in shared memory,
// at a single number.
// CHECK: llvm.func @vectors
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr
// CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
gpu.module @k {
  gpu.func @vectors(%A: memref<1024xf32>, %B: memref<64x8xf16>, %C: memref<64xf32, strided<[1], offset: ?>>, %x: vector<8xf16>)
      workgroup(%S: memref<64x8xf16, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %a = affine.vector_load %A[symbol(%t) * 4] : memref<1024xf32>, vector<4xf32>
    %b = affine.vector_load %A[symbol(%t) * 4 + 2] : memref<1024xf32>, vector<4xf32>
    %c = affine.vector_load %C[symbol(%t) * 4] : memref<64xf32, strided<[1], offset: ?>>, vector<4xf32>
    %s = arith.addf %a, %b : vector<4xf32>
    %d = arith.addf %s, %c : vector<4xf32>
    affine.vector_store %d, %A[symbol(%t) * 4] : memref<1024xf32>, vector<4xf32>
    affine.vector_store %x, %B[%t, 0] : memref<64x8xf16>, vector<8xf16>
    affine.vector_store %x, %S[%t, 0] : memref<64x8xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    gpu.return
  }
}

// -----

// no-match: a module without kernels.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: return
func.func @plain() {
  return
}

// -----

gpu.module @k {
  gpu.func @exponential(%A: memref<64xf32>, %x: f32) kernel {
    %t = gpu.thread_id x
    // expected-error@below {{the GPU has no instruction for 'math.exp'; run --math-expand-functions first}}
    %e = math.exp %x : f32
    affine.store %e, %A[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

func.func @launch() {
  %c1 = arith.constant 1 : index
  // expected-error@below {{a kernel lies inside of a function; run --gpu-kernel-outlining first}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

// PTX knows no modules: what two of them define gets two names.
// CHECK: gpu.launch_func @k::@f
// CHECK: gpu.launch_func @l::@l
// CHECK: gpu.module @k
// CHECK: llvm.mlir.global {{.*}}@table
// CHECK: llvm.func @f(
// CHECK: gpu.module @l
// CHECK: llvm.mlir.global {{.*}}@l_table
// CHECK: llvm.func @l(
// CHECK: llvm.mlir.addressof @l_table
module attributes {gpu.container_module} {
  func.func @host(%A: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%A : memref<4xf32>)
    gpu.launch_func @l::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%A : memref<4xf32>)
    return
  }
  gpu.module @k {
    memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
    gpu.func @f(%A: memref<4xf32>) kernel {
      %t = gpu.thread_id x
      %m = memref.get_global @table : memref<4xf32>
      %a = affine.load %m[%t] : memref<4xf32>
      affine.store %a, %A[%t] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @l {
    memref.global "private" constant @table : memref<4xf32> = dense<[5.0, 6.0, 7.0, 8.0]>
    gpu.func @f(%A: memref<4xf32>) kernel {
      %t = gpu.thread_id x
      %m = memref.get_global @table : memref<4xf32>
      %a = affine.load %m[%t] : memref<4xf32>
      affine.store %a, %A[%t] : memref<4xf32>
      gpu.return
    }
  }
}

// -----

// Threads with tiles of results get registers for them: two blocks of 256 are to fit a multiprocessor, not more.
// CHECK: llvm.func @tiles(
// CHECK-SAME: nvvm.minctasm = 2 : i32
// CHECK: llvm.func @rows(
// CHECK-NOT: nvvm.minctasm
gpu.module @k {
  gpu.func @tiles(%A: memref<256xf32>) workgroup(%S: memref<256xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %t = gpu.thread_id x
    %a = affine.load %A[%t] : memref<256xf32>
    affine.store %a, %S[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
gpu.module @l {
  gpu.func @rows(%A: memref<256xf32>) workgroup(%S: memref<256xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %t = gpu.thread_id x
    %a = affine.load %A[%t] : memref<256xf32>
    affine.store %a, %S[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// What TMA copies by is a tensor map, which comes by value; memory of others is as before.
// CHECK: llvm.func @by_value(%[[M:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr)
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[M]], %{{.*}}, box
gpu.module @k {
  gpu.func @by_value(%m: !llvm.ptr, %A: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i64
    %t = gpu.thread_id x
    %target = llvm.inttoptr %c1024 : i64 to !llvm.ptr<7>
    %barrier = llvm.inttoptr %c1024 : i64 to !llvm.ptr<3>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %target, %m, %barrier, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
    %a = affine.load %A[%t] : memref<64xf32>
    affine.store %a, %A[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

// Sums over several loops keep the addresses of each: one block may have all registers.
// CHECK: llvm.func @sums(
// CHECK-SAME: nvvm.minctasm = 1 : i32
gpu.module @k {
  gpu.func @sums(%A: memref<256xf32>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %t = gpu.thread_id x
    affine.for %a = 0 to 3 { affine.for %b = 0 to 3 { affine.for %c = 0 to 3 { affine.for %d = 0 to 4 { affine.for %e = 0 to 4 {
      %v = affine.load %A[%t] : memref<256xf32>
      %w = arith.addf %v, %v : f32
      affine.store %w, %A[%t] : memref<256xf32>
    } } } } }
    gpu.return
  }
}
