// RUN: dlc-opt %s --split-input-file --verify-diagnostics --gpu-place-copies | filecheck %s
// Buffers that kernels touch live on the GPU; the host gets copies of what it reads there, and gives back what it writes.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {dl.name = "x"}, %[[W:.*]]: memref<8xf32> {dl.param = "w"}
// CHECK-DAG: %[[WD:.*]] = gpu.alloc () : memref<8xf32>
// CHECK-DAG: gpu.memcpy %[[WD]], %[[W]] {{.*}}{dlc.copy = "argument"}
// CHECK-DAG: %[[XD:.*]] = gpu.alloc () : memref<8xf32>
// CHECK-DAG: gpu.memcpy %[[XD]], %[[X]] {{.*}}{dlc.copy = "argument"}
// CHECK: %[[A:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: %[[AH:.*]] = memref.alloc() : memref<8xf32>
// CHECK: call @kernel(%[[XD]], %[[WD]], %[[A]])
// CHECK: %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK: gpu.memcpy %[[AH]], %[[A]] {{.*}}{dlc.copy = "download"}
// CHECK: call @on_cpu(%[[AH]], %[[B]])
// A second reader needs no second copy.
// CHECK-NOT: dlc.copy = "download"
// CHECK: call @on_cpu(%[[AH]], %[[B]])
// What the host writes goes to the GPU, and what nobody has written needs no copy before.
// CHECK: %[[C:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: %[[CH:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NOT: dlc.copy = "download"
// CHECK: call @on_cpu(%[[AH]], %[[CH]])
// CHECK: gpu.memcpy %[[C]], %[[CH]] {{.*}}{dlc.copy = "upload"}
// CHECK: call @kernel(%[[C]], %[[WD]], %[[A]])
// CHECK: gpu.memcpy %[[AH]], %[[A]] {{.*}}{dlc.copy = "download"}
// CHECK: call @on_cpu(%[[AH]], %[[B]])
// CHECK: %[[R:.*]] = memref.alloc() : memref<8xf32>
// CHECK: gpu.memcpy %[[R]], %[[A]] {{.*}}{dlc.copy = "deliver", dlc.result = 0 : i64}
// CHECK: return %[[R]], %[[B]]
module attributes {gpu.container_module} {
func.func @main(%x: memref<8xf32> {dl.name = "x"}, %w: memref<8xf32> {dl.param = "w"}) -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  call @kernel(%x, %w, %a) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  %b = memref.alloc() : memref<8xf32>
  call @on_cpu(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  call @on_cpu(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  call @on_cpu(%a, %c) : (memref<8xf32>, memref<8xf32>) -> ()
  call @kernel(%c, %w, %a) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  call @on_cpu(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  return %a, %b : memref<8xf32>, memref<8xf32>
}
func.func private @kernel(%x: memref<8xf32>, %w: memref<8xf32>, %out: memref<8xf32>) attributes {dl.kernel} {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>, %w : memref<8xf32>, %out : memref<8xf32>)
  return
}
func.func private @on_cpu(%x: memref<8xf32>, %out: memref<8xf32>) attributes {dl.kernel, dlc.on_cpu = "a test"} {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %out[%i] : memref<8xf32>
  }
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>, %w: memref<8xf32>, %out: memref<8xf32>) kernel {
    %t = gpu.thread_id x
    %0 = memref.load %x[%t] : memref<8xf32>
    %1 = memref.load %w[%t] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %out[%t] : memref<8xf32>
    gpu.return
  }
}
}

// -----

// Where nothing launches, an input that may lie on the GPU comes to the host.
// CHECK-LABEL: func.func @host(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>
// CHECK: %[[HOST:.*]] = memref.alloc() : memref<8xf32>
// CHECK: gpu.memcpy %[[HOST]], %[[X]] : {{.*}} {dlc.copy = "argument"}
// CHECK: memref.load %[[HOST]]
func.func @host(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<8xf32>
  return %0 : f32
}

// -----

// no-match: weights are the host's.
// CHECK-LABEL: func.func @weights(
// CHECK-NOT: gpu.
// CHECK: return
func.func @weights(%x: memref<8xf32> {dl.param = 0 : i64}) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<8xf32>
  return %0 : f32
}

// -----

module attributes {gpu.container_module} {
// expected-error@+1 {{an input is donated, which code for a GPU makes no use of; compile without donate}}
func.func @donated(%x: memref<8xf32> {dl.donated}) {
  call @kernel(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @kernel(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

// What takes the place of a buffer in a loop lives where it does; each step has to copy anew what the host reads of it.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[A:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: %[[B:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[A]], %[[Y:.*]] = %[[B]])
// CHECK: %[[H:.*]] = memref.alloc() : memref<8xf32>
// CHECK: call @kernel(%[[X]], %[[Y]])
// CHECK: gpu.memcpy %[[H]], %[[Y]] {{.*}}{dlc.copy = "download"}
// CHECK: memref.load %[[H]]
// CHECK: memref.dealloc %[[H]]
// CHECK: scf.yield %[[Y]], %[[X]]
module attributes {gpu.container_module} {
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<8xf32>, memref<8xf32>) {
    func.call @kernel(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    %v = memref.load %y[%i] : memref<8xf32>
    %ok = arith.cmpf one, %v, %v : f32
    cf.assert %ok, "a number"
    scf.yield %y, %x : memref<8xf32>, memref<8xf32>
  }
  return
}
func.func private @kernel(%x: memref<8xf32>, %out: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %out : memref<8xf32>)
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>, %out: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

// A tensor map is of what lies on the GPU, and needs no copy on the host.
// CHECK-LABEL: func.func @mapped(
// CHECK-SAME: %[[X:.*]]: memref<8x64xf16>
// CHECK: %[[D:.*]] = gpu.alloc () : memref<8x64xf16>
// CHECK: gpu.memcpy %[[D]], %[[X]] {{.*}}{dlc.copy = "argument"}
// CHECK: %[[U:.*]] = memref.cast %[[D]]
// CHECK: nvgpu.tma.create.descriptor %[[U]]
// CHECK-NOT: gpu.memcpy
// CHECK: return
module attributes {gpu.container_module} {
func.func @mapped(%x: memref<8x64xf16>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %u = memref.cast %x : memref<8x64xf16> to memref<*xf16>
  %d = nvgpu.tma.create.descriptor %u box[%c4, %c32] : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  %m = builtin.unrealized_conversion_cast %d : !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none> to !llvm.ptr
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : !llvm.ptr)
  return
}
gpu.module @k {
  gpu.func @k(%m: !llvm.ptr) kernel {
    gpu.return
  }
}
}
