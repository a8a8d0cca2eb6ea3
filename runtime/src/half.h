// Conversions of 16-bit floats that code for x86 without F16C calls, by the names of LLVM's and GCC's runtimes.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#ifdef __x86_64__
#include <emmintrin.h>

#include "dlc_runtime.h"

// A half is passed and returned in the low bits of a vector register.
extern "C" {
DLC_EXPORT float __extendhfsf2(__m128i half);
DLC_EXPORT __m128i __truncsfhf2(float value); // rounds to nearest, ties to even
}
#endif
