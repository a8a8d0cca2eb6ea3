// RUN: dlc-opt %s --normalize-memrefs --split-input-file --verify-diagnostics
// Upstream's pass would end the process where it makes another layout of one whose symbols nobody gives.

#empty = strided<[1, 8], offset: ?>
func.func @argument(%x: memref<8x0xf32, #empty>) {
  affine.for %i = 0 to 8 {
    // expected-error@below {{'affine.load' needs the symbols in the layout of memref<8x0xf32, strided<[1, 8], offset: ?>>, which only an allocation has; write constants for them, or leave out normalize-memrefs}}
    %0 = affine.load %x[%i, %i] : memref<8x0xf32, #empty>
  }
  return
}

// -----

#empty = strided<[4, 1], offset: ?>
func.func @cast(%x: memref<0x4xf32>, %v: f32) {
  %y = memref.cast %x : memref<0x4xf32> to memref<0x4xf32, #empty>
  affine.for %i = 0 to 4 {
    // expected-error@below {{'affine.store' needs the symbols in the layout}}
    affine.store %v, %y[%i, %i] : memref<0x4xf32, #empty>
  }
  return
}

// -----

#tiles = affine_map<(i)[s] -> (i floordiv 2, (i + s) mod 2)>
func.func @tiles(%x: memref<8xf32, #tiles>) {
  affine.for %i = 0 to 8 {
    // expected-error@below {{'affine.load' needs the symbols in the layout}}
    %0 = affine.load %x[%i] : memref<8xf32, #tiles>
  }
  return
}

// -----

#tiles = affine_map<(i)[s] -> (i floordiv 2, (i + s) mod 2)>
func.func @known(%x: memref<8x4xf32, strided<[1, 8], offset: ?>>, %y: memref<8x4xf32>, %s: index) {
  %tiles = memref.alloc()[%s] : memref<8xf32, #tiles>
  %rows = memref.subview %y[%s, 0] [0, 4] [1, 1] : memref<8x4xf32> to memref<0x4xf32, strided<[4, 1], offset: ?>>
  affine.for %i = 0 to 4 {
    %0 = affine.load %x[%i, %i] : memref<8x4xf32, strided<[1, 8], offset: ?>>
    affine.store %0, %tiles[%i] : memref<8xf32, #tiles>
    affine.store %0, %rows[%i, %i] : memref<0x4xf32, strided<[4, 1], offset: ?>>
  }
  return
}
