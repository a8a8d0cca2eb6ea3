func.func private @opaque(memref<32xf64>)

func.func @sum(%a: memref<8x4xi32>, %s: memref<8xi32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %k = 0 to 4 {
      %x = affine.load %a[%i, %k] : memref<8x4xi32>
      %y = affine.load %s[%i] : memref<8xi32>
      %z = arith.addi %y, %x : i32
      affine.store %z, %s[%i] : memref<8xi32>
    }
  }
  return
}

func.func @calls(%in: memref<32xf64>, %comm: memref<32xf64> {llvm.noalias}, %out: memref<32xf64> {llvm.noalias}) {
  affine.for %i = 0 to 16 {
    %a = affine.load %in[%i] : memref<32xf64>
    affine.store %a, %comm[%i] : memref<32xf64>
    func.call @opaque(%comm) : (memref<32xf64>) -> ()
  }
  affine.for %i = 0 to 16 {
    %a = affine.load %comm[%i] : memref<32xf64>
    affine.store %a, %out[%i] : memref<32xf64>
  }
  return
}
