// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file --verify-diagnostics | filecheck %s
// Loops on memrefs become the llvm dialect; the entry is called through its C interface, all other functions are internal.

// CHECK: module attributes {dl.signature = {entry = "main_graph"
// CHECK-NOT: @main_graph(
// CHECK: llvm.func @_mlir_ciface_main_graph(
// CHECK-SAME: %[[RESULT:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr)
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[X]][0, 1]
// CHECK: %[[DATA:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[Y:.*]] = llvm.call @dlc_result_memory
// CHECK: llvm.call @kernel(%[[DATA]], %[[Y]]) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK: llvm.store %{{.*}}, %[[RESULT]]
// CHECK-LABEL: llvm.func internal @kernel(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr)
// CHECK-SAME: no_inline
// CHECK-NOT: _mlir_ciface_kernel
module attributes {dl.signature = {entry = "main_graph", inputs = [], outputs = [], params = []}} {
  func.func @main_graph(%x: memref<4xf32> {dl.name = "x"}) -> (memref<4xf32> {dl.name = "y"}) {
    %y = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
    call @kernel(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    return %y : memref<4xf32>
  }
  func.func private @kernel(%x: memref<4xf32> {llvm.noalias}, %y: memref<4xf32>) {
    affine.for %i = 0 to 4 {
      %v = affine.load %x[%i] : memref<4xf32>
      %w = math.sqrt %v : f32
      affine.store %w, %y[%i] : memref<4xf32>
    }
    return
  }
}

// -----

// Without a signature, each public function is an entry. Vectors and libm calls are lowered too; bf16 moves as integers.
// CHECK-LABEL: llvm.func @_mlir_ciface_vectors(
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, vector<8xi16>
// CHECK: llvm.intr.masked.store %{{.*}} : vector<8xi16>, vector<8xi1> into !llvm.ptr
// CHECK: llvm.call @erff
func.func @vectors(%x: memref<8xbf16>, %y: memref<8xbf16>, %s: memref<f32>, %c: i1, %mask: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %v = affine.vector_load %x[%c0] : memref<8xbf16>, vector<8xbf16>
  %w = arith.addf %v, %v : vector<8xbf16>
  %u = arith.select %c, %v, %w : vector<8xbf16>
  vector.maskedstore %y[%c0], %mask, %u : memref<8xbf16>, vector<8xi1>, vector<8xbf16>
  %a = affine.load %s[] : memref<f32>
  %b = math.erf %a : f32
  affine.store %b, %s[] : memref<f32>
  return
}

// -----

// Buffers of dynamic shape or another layout go as descriptors, and so does what is reached through its address.
// CHECK-LABEL: llvm.func @_mlir_ciface_several(
// CHECK: llvm.call @dynamic({{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, !llvm.ptr) -> ()
// CHECK: llvm.call @addressed({{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
// CHECK: llvm.call @kernel_elsewhere(%{{[^,]*}}) : (!llvm.ptr) -> ()
func.func @several(%x: memref<?xf32>, %y: memref<4xf32>, %s: memref<4xf32, strided<[2]>>) {
  call @dynamic(%x, %s, %y) : (memref<?xf32>, memref<4xf32, strided<[2]>>, memref<4xf32>) -> ()
  %f = func.constant @addressed : (memref<4xf32>) -> ()
  call @addressed(%y) : (memref<4xf32>) -> ()
  call @kernel_elsewhere(%y) : (memref<4xf32>) -> ()
  return
}
// CHECK: llvm.func @kernel_elsewhere(!llvm.ptr)
func.func private @kernel_elsewhere(memref<4xf32>) attributes {dl.kernel}
func.func private @addressed(%y: memref<4xf32>) {
  return
}
func.func private @dynamic(%x: memref<?xf32>, %s: memref<4xf32, strided<[2]>>, %y: memref<4xf32>) {
  return
}

// -----

// A kernel in a module of its own has a caller in another object: external, without a C interface.
// CHECK-LABEL: llvm.func @kernel_alone(%{{[^,]*}}: !llvm.ptr)
// CHECK-NOT: ciface
func.func @kernel_alone(%y: memref<4xf32>) attributes {dl.kernel} {
  return
}

// -----

// Vectors of i1 move as bytes, like scalars, masked or not; a byte that is not 0 is true. Masks themselves stay.
// CHECK-LABEL: llvm.func @{{.*}}bools(
// CHECK: %[[BYTES:.*]] = llvm.load {{.*}} -> vector<8xi8>
// CHECK: %[[TRUE:.*]] = llvm.icmp "ne" %[[BYTES]], %{{.*}} : vector<8xi8>
// CHECK: %[[MORE:.*]] = llvm.intr.masked.load {{.*}} -> vector<8xi8>
// CHECK: %[[BOTH:.*]] = llvm.and
// CHECK: %[[WIDE:.*]] = llvm.zext %[[BOTH]] : vector<8xi1> to vector<8xi8>
// CHECK: llvm.store %[[WIDE]], {{.*}} : vector<8xi8>
// CHECK: llvm.intr.masked.store %{{.*}} : vector<8xi8>, vector<8xi1>
func.func @bools(%x: memref<16xi1>, %y: memref<16xi1>, %mask: vector<8xi1>, %fill: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = affine.vector_load %x[%c0] : memref<16xi1>, vector<8xi1>
  %m = vector.maskedload %x[%c8], %mask, %fill : memref<16xi1>, vector<8xi1>, vector<8xi1> into vector<8xi1>
  %b = arith.andi %v, %m : vector<8xi1>
  affine.vector_store %b, %y[%c0] : memref<16xi1>, vector<8xi1>
  vector.maskedstore %y[%c8], %mask, %b : memref<16xi1>, vector<8xi1>, vector<8xi1>
  return
}

// -----

// What is at the last level stays.
// CHECK-LABEL: llvm.func @no_match(
// CHECK-NEXT: llvm.return
llvm.func @no_match() {
  llvm.return
}

// -----

func.func @needs_buffers(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs affine, scf and memref, found 'linalg.exp' on tensors; run linalg-bufferize-tensors first}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @needs_loops(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{needs affine, scf and memref, found 'linalg.exp'; run convert-linalg-to-affine first}}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
