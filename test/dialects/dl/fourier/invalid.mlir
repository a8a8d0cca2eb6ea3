// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each constraint of the family has a message with the values.

func.func @fft_c1(%x: tensor<1x3x8x1xf32>, %w: tensor<2x7xf32>) {
  // expected-error@+1 {{'dl.fft' op c1: x is tensor<1x3x8x1xf32>}}
  %0 = "dl.fft"(%x, %w) : (tensor<1x3x8x1xf32>, tensor<2x7xf32>) -> tensor<1x2x8x1xf32>
  return
}

// -----

func.func @fft_c1_length(%x: tensor<1x2x?x1xf32>, %w: tensor<2x7xf32>) {
  // expected-error@+1 {{'dl.fft' op c1: x dim 2 is None}}
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x?x1xf32>, tensor<2x7xf32>) -> tensor<1x2x?x1xf32>
  return
}

// -----

func.func @fft_c2(%x: tensor<1x2x34x1xf32>, %w: tensor<2x33xf32>) {
  // expected-error@+1 {{'dl.fft' op c2: 34 points have a prime factor above 13}}
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x34x1xf32>, tensor<2x33xf32>) -> tensor<1x2x34x1xf32>
  return
}

// -----

func.func @fft_c3(%x: tensor<1x2x8x1xf32>, %w: tensor<2x8xf32>) {
  // expected-error@+1 {{'dl.fft' op c3: twiddles dim 1 is 8 but the number of points less 1 is 7}}
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x8x1xf32>, tensor<2x8xf32>) -> tensor<1x2x8x1xf32>
  return
}

// -----

func.func @fft_c4(%x: tensor<1x2x8x1xf32>, %w: tensor<2x7xf64>) {
  // expected-error@+1 {{'dl.fft' op c4: }}
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x8x1xf32>, tensor<2x7xf64>) -> tensor<1x2x8x1xf32>
  return
}

// -----

func.func @fft_t1(%x: tensor<1x2x8x1xf16>, %w: tensor<2x7xf16>) {
  // expected-error@+1 {{'dl.fft' op t1: operand 'x' is f16 but must be one of f64, f32}}
  %0 = "dl.fft"(%x, %w) : (tensor<1x2x8x1xf16>, tensor<2x7xf16>) -> tensor<1x2x8x1xf16>
  return
}

// -----

func.func @rfft_c1(%x: tensor<1x7x1xf32>, %w: tensor<2x7xf32>) {
  // expected-error@+1 {{'dl.rfft' op c1: x dim 1 is 7}}
  %0 = "dl.rfft"(%x, %w) : (tensor<1x7x1xf32>, tensor<2x7xf32>) -> tensor<1x2x4x1xf32>
  return
}

// -----

func.func @rfft_c2(%x: tensor<1x34x1xf32>, %w: tensor<2x34xf32>) {
  // expected-error@+1 {{'dl.rfft' op c2: half of 34 points have a prime factor above 13}}
  %0 = "dl.rfft"(%x, %w) : (tensor<1x34x1xf32>, tensor<2x34xf32>) -> tensor<1x2x18x1xf32>
  return
}

// -----

func.func @rfft_c3(%x: tensor<1x8x1xf32>, %w: tensor<2x7xf32>) {
  // expected-error@+1 {{'dl.rfft' op c3: twiddles dim 1 is 7 but the number of points is 8}}
  %0 = "dl.rfft"(%x, %w) : (tensor<1x8x1xf32>, tensor<2x7xf32>) -> tensor<1x2x5x1xf32>
  return
}

// -----

func.func @rfft_c4(%x: tensor<1x8x1xf32>, %w: tensor<2x8xf64>) {
  // expected-error@+1 {{'dl.rfft' op c4: }}
  %0 = "dl.rfft"(%x, %w) : (tensor<1x8x1xf32>, tensor<2x8xf64>) -> tensor<1x2x5x1xf32>
  return
}

// -----

func.func @rfft_t1(%x: tensor<1x8x1xi32>, %w: tensor<2x8xi32>) {
  // expected-error@+1 {{'dl.rfft' op t1: operand 'x' is i32 but must be one of f64, f32}}
  %0 = "dl.rfft"(%x, %w) : (tensor<1x8x1xi32>, tensor<2x8xi32>) -> tensor<1x2x5x1xi32>
  return
}

// -----

func.func @irfft_c1(%x: tensor<1x2x1x1xf32>, %w: tensor<2x2xf32>) {
  // expected-error@+1 {{'dl.irfft' op c1: x dim 2 is 1}}
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x1x1xf32>, tensor<2x2xf32>) -> tensor<1x0x1xf32>
  return
}

// -----

func.func @irfft_c2(%x: tensor<1x2x18x1xf32>, %w: tensor<2x34xf32>) {
  // expected-error@+1 {{'dl.irfft' op c2: half of 34 points have a prime factor above 13}}
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x18x1xf32>, tensor<2x34xf32>) -> tensor<1x34x1xf32>
  return
}

// -----

func.func @irfft_c3(%x: tensor<1x2x5x1xf32>, %w: tensor<1x8xf32>) {
  // expected-error@+1 {{'dl.irfft' op c3: twiddles dim 0 is 1 but the number of parts is 2}}
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x5x1xf32>, tensor<1x8xf32>) -> tensor<1x8x1xf32>
  return
}

// -----

func.func @irfft_c4(%x: tensor<1x2x5x1xf64>, %w: tensor<2x8xf32>) {
  // expected-error@+1 {{'dl.irfft' op c4: }}
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x5x1xf64>, tensor<2x8xf32>) -> tensor<1x8x1xf64>
  return
}

// -----

func.func @irfft_t1(%x: tensor<1x2x5x1xbf16>, %w: tensor<2x8xbf16>) {
  // expected-error@+1 {{'dl.irfft' op t1: operand 'x' is bf16 but must be one of f64, f32}}
  %0 = "dl.irfft"(%x, %w) : (tensor<1x2x5x1xbf16>, tensor<2x8xbf16>) -> tensor<1x8x1xbf16>
  return
}

// -----

// A dim of 0 leaves the others sizes to be checked: to find the factors of this one would take minutes.
func.func @fft_t2(%x: tensor<0x2x2305843009213693951x1xf32>, %w: tensor<2x?xf32>) {
  // expected-error@+1 {{'dl.fft' op t2: tensor<0x2x2305843009213693951x1xf32> takes 18446744073709551608 bytes, more than any machine can address}}
  %0 = "dl.fft"(%x, %w) : (tensor<0x2x2305843009213693951x1xf32>, tensor<2x?xf32>) -> tensor<0x2x?x1xf32>
  return
}
