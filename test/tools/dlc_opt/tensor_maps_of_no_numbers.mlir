// RUN: not dlc-opt %s 2>&1 | filecheck %s
// RUN: not dlc-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=EACH
// RUN: sed 's/complex<f32>/f16/g' %s | dlc-opt - | filecheck %s --check-prefix=FITS
// The verifiers of these ops ask elements for their width, which only numbers have.

// CHECK: tensor_maps_of_no_numbers.mlir:13:{{.*}} error: a tensor map is of integers or floats, written as such, not of 'complex'
// EACH: tensor_maps_of_no_numbers.mlir:13:{{.*}} not of 'complex'
// EACH: tensor_maps_of_no_numbers.mlir:22:{{.*}} not of 'complex'
// FITS: nvgpu.tma.create.descriptor
// FITS: nvgpu.tma.create.descriptor
func.func @f(%u: memref<*xcomplex<f32>>) {
  %c32 = arith.constant 32 : index
  %d = nvgpu.tma.create.descriptor %u box[%c32, %c32] : memref<*xcomplex<f32>> -> !nvgpu.tensormap.descriptor<tensor = memref<32x32xcomplex<f32>, #gpu.address_space<workgroup>>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  return
}

// -----

!tile = memref<32x32xcomplex<f32>, #gpu.address_space<workgroup>>
func.func @g(%u: memref<*xcomplex<f32>>) {
  %c32 = arith.constant 32 : index
  %d = nvgpu.tma.create.descriptor %u box[%c32, %c32] : memref<*xcomplex<f32>> -> !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  return
}
