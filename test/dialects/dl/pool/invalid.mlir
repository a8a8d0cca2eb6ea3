// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of poolings.

func.func @max_pool_t1(%arg0: tensor<1x3x8x8xi1>) {
  // expected-error @+1 {{'dl.max_pool' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8, ui16, ui32, ui64}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 2, 2>} : (tensor<1x3x8x8xi1>) -> tensor<1x3x7x7xi1>
  return
}

// -----

func.func @max_pool_c1(%arg0: tensor<3x8xf32>) {
  // expected-error @+1 {{'dl.max_pool' op c1: x has rank 2 but must have 3 to 5}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @max_pool_c2(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.max_pool' op c2: kernel [2] needs one value per spatial axis, 2}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x8xf32>
  return
}

// -----

func.func @max_pool_c3(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.max_pool' op c3: pads [1, 1] need two values per spatial axis, 4}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @max_pool_c4(%arg0: tensor<1x3x8x4xf32>) {
  // expected-error @+1 {{'dl.max_pool' op c4: the window spans 5 but the padded input has 4 on axis 3}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 2, 5>} : (tensor<1x3x8x4xf32>) -> tensor<1x3x7x1xf32>
  return
}

// -----

func.func @avg_pool_t1(%arg0: tensor<1x3x8x8xi32>) {
  // expected-error @+1 {{'dl.avg_pool' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64: 2, 2>} : (tensor<1x3x8x8xi32>) -> tensor<1x3x7x7xi32>
  return
}

// -----

func.func @avg_pool_c1(%arg0: tensor<3x8xf32>) {
  // expected-error @+1 {{'dl.avg_pool' op c1: x has rank 2 but must have 3 to 5}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @avg_pool_c2(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.avg_pool' op c2: kernel [2] needs one value per spatial axis, 2}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x8xf32>
  return
}

// -----

func.func @avg_pool_c3(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.avg_pool' op c3: pads [1, 1] need two values per spatial axis, 4}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @avg_pool_c4(%arg0: tensor<1x3x8x4xf32>) {
  // expected-error @+1 {{'dl.avg_pool' op c4: the window spans 5 but the padded input has 4 on axis 3}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64: 2, 5>} : (tensor<1x3x8x4xf32>) -> tensor<1x3x7x1xf32>
  return
}

// -----

func.func @max_pool_c5(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.max_pool' op c5: pads 8589934592 and 1 on axis 3 hold a whole window of 3}}
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 3, 3>, pads = array<i64: 1, 8589934592, 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8589934598xf32>
  return
}

// -----

func.func @avg_pool_c5(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.avg_pool' op c5: pads 8589934592 and 1 on axis 3 hold a whole window of 3}}
  %0 = "dl.avg_pool"(%arg0) {kernel = array<i64: 3, 3>, pads = array<i64: 1, 8589934592, 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8589934598xf32>
  return
}

// -----

func.func @arg_max_pool_t1(%arg0: tensor<1x3x8x8xi1>) {
  // expected-error @+1 {{'dl.arg_max_pool' op t1: operand 'x' is i1 but must be one of f64, f32, f16, bf16, i64, i32, i16, i8, ui8}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64: 2, 2>} : (tensor<1x3x8x8xi1>) -> tensor<1x3x7x7xi64>
  return
}

// -----

func.func @arg_max_pool_c1(%arg0: tensor<3x8xf32>) {
  // expected-error @+1 {{'dl.arg_max_pool' op c1: x has rank 2 but must have 3 to 5}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64>} : (tensor<3x8xf32>) -> tensor<3x8xi64>
  return
}

// -----

func.func @arg_max_pool_c2(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.arg_max_pool' op c2: kernel [2] needs one value per spatial axis, 2}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x8xi64>
  return
}

// -----

func.func @arg_max_pool_c3(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.arg_max_pool' op c3: pads [1, 1] need two values per spatial axis, 4}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xi64>
  return
}

// -----

func.func @arg_max_pool_c4(%arg0: tensor<1x3x8x4xf32>) {
  // expected-error @+1 {{'dl.arg_max_pool' op c4: the window spans 5 but the padded input has 4 on axis 3}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64: 2, 5>} : (tensor<1x3x8x4xf32>) -> tensor<1x3x7x1xi64>
  return
}

// -----

func.func @arg_max_pool_c5(%arg0: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'dl.arg_max_pool' op c5: pads 8589934592 and 1 on axis 3 hold a whole window of 3}}
  %0 = "dl.arg_max_pool"(%arg0) {kernel = array<i64: 3, 3>, pads = array<i64: 1, 8589934592, 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8589934598xi64>
  return
}
