func.func @diagonal(%a: memref<16x16xf32>) {
  affine.for %r = 1 to 16 {
    affine.for %c = 0 to 15 {
      %x = affine.load %a[%r - 1, %c + 1] : memref<16x16xf32>
      affine.store %x, %a[%r, %c] : memref<16x16xf32>
    }
  }
  return
}
