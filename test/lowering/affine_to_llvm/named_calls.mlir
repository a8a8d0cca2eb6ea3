// RUN: dlc-opt %s --convert-affine-to-llvm | filecheck %s
// An entry says which node its memory is for, and which nodes the kernel computes that it calls next.

// CHECK-DAG: llvm.mlir.global internal constant @[[ADD:.*]]("node 'add'\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[MANY:.*]]("nodes 'a', 'b', 'c', 1 more\00")
// CHECK-DAG: llvm.func @dlc_allocate(i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @dlc_begin_kernel(!llvm.ptr)

// CHECK-LABEL: llvm.func @_mlir_ciface_main(
// CHECK: %[[NODE:.*]] = llvm.mlir.addressof @[[ADD]]
// CHECK: %[[A:.*]] = llvm.call @dlc_allocate(%{{.*}}, %[[NODE]])
// CHECK: %[[NODES:.*]] = llvm.mlir.addressof @[[MANY]]
// CHECK: llvm.call @dlc_begin_kernel(%[[NODES]])
// CHECK-NEXT: llvm.call @kernel_0(%[[A]])
// CHECK-NOT: dlc_begin_kernel
// CHECK: llvm.call @helper(
func.func @main() {
  %a = memref.alloc() : memref<4xf32> loc("add")
  call @kernel_0(%a) : (memref<4xf32>) -> () loc(fused["a", "b", "c", "d"])
  call @helper(%a) : (memref<4xf32>) -> ()
  memref.dealloc %a : memref<4xf32>
  return
}
func.func private @kernel_0(memref<4xf32>) attributes {dl.kernel}
func.func private @helper(memref<4xf32>)
