// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of ops that read or write at positions.

func.func @gather_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.gather' op c1: axis 2 is out of range for rank 2}}
  %0 = "dl.gather"(%arg0, %arg1) {axis = 2 : i64} : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<5x2xf32>
  return
}

// -----

func.func @gather_c2(%arg0: tensor<0x4xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.gather' op c2: indices into axis 0 of tensor<0x4xf32>, which is empty}}
  %0 = "dl.gather"(%arg0, %arg1) : (tensor<0x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi16>) {
  // expected-error @+1 {{'dl.gather' op t1: operand 'indices' is i16 but must be one of i64, i32}}
  %0 = "dl.gather"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2xi16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_elements_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi64>) {
  // expected-error @+1 {{'dl.gather_elements' op c1: x is tensor<5x4xf32> but indices tensor<2xi64>}}
  %0 = "dl.gather_elements"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_elements_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<2x5xi64>) {
  // expected-error @+1 {{'dl.gather_elements' op c2: dim 1 of indices is 5 but x's is 4}}
  %0 = "dl.gather_elements"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x5xi64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @gather_elements_c3(%arg0: tensor<0x4xf32>, %arg1: tensor<2x4xi64>) {
  // expected-error @+1 {{'dl.gather_elements' op c3: indices into axis 0 of tensor<0x4xf32>, which is empty}}
  %0 = "dl.gather_elements"(%arg0, %arg1) : (tensor<0x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_elements_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.gather_elements' op t1: operand 'indices' is f32 but must be one of i64, i32}}
  %0 = "dl.gather_elements"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_nd_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @+1 {{'dl.gather_nd' op c1: batch_dims is 2 for indices tensor<2x1xi64>}}
  %0 = "dl.gather_nd"(%arg0, %arg1) {batch_dims = 2 : i64} : (tensor<5x4xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_nd_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<2x3xi64>) {
  // expected-error @+1 {{'dl.gather_nd' op c2: 3 indices per tuple for x tensor<5x4xf32> with 0 batch dims}}
  %0 = "dl.gather_nd"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c3(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @+1 {{'dl.gather_nd' op c3: dim 0 of x is 5 but dim 0 of indices is 2}}
  %0 = "dl.gather_nd"(%arg0, %arg1) {batch_dims = 1 : i64} : (tensor<5x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c4(%arg0: tensor<0x4xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @+1 {{'dl.gather_nd' op c4: indices into axis 0 of tensor<0x4xf32>, which is empty}}
  %0 = "dl.gather_nd"(%arg0, %arg1) : (tensor<0x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_nd_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xi8>) {
  // expected-error @+1 {{'dl.gather_nd' op t1: operand 'indices' is i8 but must be one of i64, i32}}
  %0 = "dl.gather_nd"(%arg0, %arg1) : (tensor<5x4xf32>, tensor<2x1xi8>) -> tensor<2x4xf32>
  return
}

// -----

func.func @scatter_elements_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi64>, %arg2: tensor<2x4xf16>) {
  // expected-error @+1 {{'dl.scatter_elements' op c1: expects one element type but x is f32, updates is f16}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi64>, tensor<2x4xf16>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_elements_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi64>, %arg2: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.scatter_elements' op c2: a dim of updates is 3 but that of indices is 4}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi64>, tensor<2x3xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_elements_c3(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2xf32>) {
  // expected-error @+1 {{'dl.scatter_elements' op c3: x is tensor<5x4xf32> but indices tensor<2xi64>}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_elements_c4(%arg0: tensor<5x4xf32>, %arg1: tensor<2x5xi64>, %arg2: tensor<2x5xf32>) {
  // expected-error @+1 {{'dl.scatter_elements' op c4: dim 1 of indices is 5 but x's is 4}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_elements_c5(%arg0: tensor<0x4xf32>, %arg1: tensor<2x4xi64>, %arg2: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.scatter_elements' op c5: indices into axis 0 of tensor<0x4xf32>, which is empty}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<0x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<0x4xf32>
  return
}

// -----

func.func @scatter_elements_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi1>, %arg2: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.scatter_elements' op t1: operand 'indices' is i1 but must be one of i64, i32}}
  %0 = "dl.scatter_elements"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi1>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_nd_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xi64>, %arg2: tensor<2x4xi32>) {
  // expected-error @+1 {{'dl.scatter_nd' op c1: expects one element type but x is f32, updates is i32}}
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x1xi64>, tensor<2x4xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_nd_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<2x?xi64>, %arg2: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.scatter_nd' op c2: indices is tensor<2x?xi64>, whose last dim is not known}}
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x?xi64>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_nd_c3(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xi64>, %arg2: tensor<2x3xf32>) {
  // expected-error @+1 {{'dl.scatter_nd' op c3: dim 1 of updates is 3 but that of indices and x is 4}}
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_nd_c4(%arg0: tensor<0x4xf32>, %arg1: tensor<2x1xi64>, %arg2: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.scatter_nd' op c4: indices into axis 0 of tensor<0x4xf32>, which is empty}}
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<0x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<0x4xf32>
  return
}

// -----

func.func @scatter_nd_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<2x4xf32>) {
  // expected-error @+1 {{'dl.scatter_nd' op t1: operand 'indices' is f32 but must be one of i64, i32}}
  %0 = "dl.scatter_nd"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @top_k_c1(%arg0: tensor<3x8xf32>) {
  // expected-error @+1 {{'dl.top_k' op c1: axis 2 is out of range for rank 2}}
  %0:2 = "dl.top_k"(%arg0) {axis = 2 : i64, k = 1 : i64} : (tensor<3x8xf32>) -> (tensor<3x1xf32>, tensor<3x1xi64>)
  return
}

// -----

func.func @top_k_c2(%arg0: tensor<3x8xf32>) {
  // expected-error @+1 {{'dl.top_k' op c2: k is 9 but dim 1 is 8}}
  %0:2 = "dl.top_k"(%arg0) {k = 9 : i64} : (tensor<3x8xf32>) -> (tensor<3x9xf32>, tensor<3x9xi64>)
  return
}

// -----

func.func @top_k_t1(%arg0: tensor<3x8xi1>) {
  // expected-error @+1 {{'dl.top_k' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0:2 = "dl.top_k"(%arg0) {k = 1 : i64} : (tensor<3x8xi1>) -> (tensor<3x1xi1>, tensor<3x1xi64>)
  return
}

// -----

func.func @update_slice_c1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xi32>, %arg2: tensor<1xi64>) {
  // expected-error @+1 {{'dl.update_slice' op c1: expects one element type but x is f32, update is i32}}
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xi32>, tensor<1xi64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @update_slice_c2(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<5xi64>) {
  // expected-error @+1 {{'dl.update_slice' op c2: axis is 0 for starts tensor<5xi64>}}
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @update_slice_c3(%arg0: tensor<5x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<1xi64>) {
  // expected-error @+1 {{'dl.update_slice' op c3: dim 0 of update is 6 but x's is 5}}
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<1xi64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @update_slice_c4(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<i64>) {
  // expected-error @+1 {{'dl.update_slice' op c4: starts is tensor<i64> but must have rank 1}}
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xf32>, tensor<i64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @update_slice_t1(%arg0: tensor<5x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<1xf32>) {
  // expected-error @+1 {{'dl.update_slice' op t1: operand 'starts' is f32 but must be one of}}
  %0 = "dl.update_slice"(%arg0, %arg1, %arg2) : (tensor<5x4xf32>, tensor<2x4xf32>, tensor<1xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @reverse_sequence_c1(%arg0: tensor<4x3xf32>, %arg1: tensor<3xi64>) {
  // expected-error @+1 {{'dl.reverse_sequence' op c1: axis and batch_axis are both 1}}
  %0 = "dl.reverse_sequence"(%arg0, %arg1) {axis = -1 : i64} : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @reverse_sequence_c2(%arg0: tensor<4x3xf32>, %arg1: tensor<4xi64>) {
  // expected-error @+1 {{'dl.reverse_sequence' op c2: the number of lengths is 4 but dim 1 of x is 3}}
  %0 = "dl.reverse_sequence"(%arg0, %arg1) : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @reverse_sequence_t1(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error @+1 {{'dl.reverse_sequence' op t1: operand 'lengths' is f32 but must be one of i64, i32}}
  %0 = "dl.reverse_sequence"(%arg0, %arg1) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @top_k_c3(%arg0: tensor<3xf32>, %arg1: tensor<1xi64>) {
  // expected-error @+1 {{'dl.top_k' op c3: count is tensor<1xi64>, not a scalar}}
  %0:2 = "dl.top_k"(%arg0, %arg1) : (tensor<3xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}
