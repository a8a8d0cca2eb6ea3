// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_90 --affine-map-to-gpu --verify-diagnostics
// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_90 --affine-map-to-gpu=leave-others=true | filecheck %s
// Elements that decide how much memory the host takes, or how often a loop runs, keep a function on the host.

// CHECK-LABEL: func.func @memory
// CHECK-SAME: dlc.on_cpu = "an element decides what the host takes or starts; let linalg-outline-sizes
func.func @memory(%n: memref<i64>, %x: f32) -> memref<?xf32> {
  %number = affine.load %n[] : memref<i64>
  %size = arith.index_cast %number : i64 to index
  // expected-error @+1 {{an element decides what the host takes or starts; let linalg-outline-sizes take it out of the kernel}}
  %a = memref.alloc(%size) : memref<?xf32>
  affine.for %i = 0 to %size {
    affine.store %x, %a[%i] : memref<?xf32>
  } {dlc.parallel}
  return %a : memref<?xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK-SAME: dlc.on_cpu
func.func @loop(%n: memref<i64>, %a: memref<?xf32>, %x: f32) {
  %number = affine.load %n[] : memref<i64>
  %size = arith.index_cast %number : i64 to index
  // expected-error @+1 {{an element decides what the host takes or starts}}
  affine.for %i = 0 to %size {
    affine.store %x, %a[%i] : memref<?xf32>
  } {dlc.parallel}
  return
}

// -----

// no-match: the kernel reads an element that decides what it computes.
// CHECK-LABEL: func.func @value
// CHECK-NOT: dlc.on_cpu
// CHECK: dlc.name = "kernel0.block.x"
func.func @value(%n: memref<f32>, %a: memref<1024xf32>) {
  %number = affine.load %n[] : memref<f32>
  affine.for %i = 0 to 1024 {
    affine.store %number, %a[%i] : memref<1024xf32>
  } {dlc.parallel}
  return
}
