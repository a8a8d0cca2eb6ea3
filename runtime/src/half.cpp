// Conversions between f16 and f32 in integers.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "half.h"

#ifdef __x86_64__

#include <cstdint>
#include <cstring>

namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kHalfInfinity = 0x7c00;
constexpr uint32_t kHalfQuiet = 0x200;            // the bit of a NaN that raises nothing
constexpr int kMantissaBits = 13;                 // of f32 beyond those of f16
constexpr uint32_t kFirstInfinite = 0x47800000;   // 2^16
constexpr uint32_t kFirstNormal = 0x38800000;     // 2^-14
constexpr uint32_t kBias = (127 - 15) << 23;      // between the exponents
constexpr uint32_t kRaise = (127 << 23) + kBias;  // 2^112, which makes up for that difference
constexpr uint32_t kHalfUnit = 0x3f000000;        // 0.5, whose last bit is worth that of a subnormal half

template <typename To, typename From> To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// A product moves the exponent, since it makes subnormal numbers normal, too.
uint32_t extended(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16, wide = (half & 0x7fff) << kMantissaBits;
  if ((half & kHalfInfinity) == kHalfInfinity) {
    const bool isNaN = half & 0x3ff;
    return sign | wide | kInfinity | (isNaN ? kHalfQuiet << kMantissaBits : 0);
  }
  return sign | bitsOf<uint32_t>(bitsOf<float>(wide) * bitsOf<float>(kRaise));
}

uint32_t truncated(uint32_t bits) {
  const uint32_t sign = (bits & kSign) >> 16, magnitude = bits & ~kSign;
  if (magnitude > kInfinity) {
    return sign | kHalfInfinity | kHalfQuiet | ((magnitude >> kMantissaBits) & 0x3ff);
  }
  if (magnitude >= kFirstInfinite) {
    return sign | kHalfInfinity;
  }
  if (magnitude < kFirstNormal) { // the sum rounds where a subnormal half ends
    return sign | (bitsOf<uint32_t>(bitsOf<float>(magnitude) + bitsOf<float>(kHalfUnit)) - kHalfUnit);
  }
  const uint32_t isOdd = (magnitude >> kMantissaBits) & 1;
  return sign | ((magnitude - kBias + 0xfff + isOdd) >> kMantissaBits); // may carry into the exponent, up to infinity
}

} // namespace

float __extendhfsf2(__m128i half) { return bitsOf<float>(extended(static_cast<uint32_t>(_mm_cvtsi128_si32(half)) & 0xffff)); }

__m128i __truncsfhf2(float value) { return _mm_cvtsi32_si128(static_cast<int>(truncated(bitsOf<uint32_t>(value)))); }

#endif
