func.func @prefix(%a: memref<16xf32>) {
  affine.for %i = 1 to 16 {
    %x = affine.load %a[%i - 1] : memref<16xf32>
    affine.store %x, %a[%i] : memref<16xf32>
  }
  return
}
