// CRC-32C by the processor's instruction, else by a table.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checksum.h"
#include "dlc_runtime.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;

std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ (value & 1 ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}

uint32_t byTable(uint32_t value, const uint8_t *bytes, size_t size) {
  static const std::array<uint32_t, 256> table = makeTable();
  for (size_t i = 0; i < size; ++i)
    value = (value >> 8) ^ table[(value ^ bytes[i]) & 0xFF];
  return value;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t byInstruction(uint32_t value, const uint8_t *bytes, size_t size) {
  uint64_t wide = value;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  value = static_cast<uint32_t>(wide);
  for (; i < size; ++i)
    value = _mm_crc32_u8(value, bytes[i]);
  return value;
}
#endif

} // namespace

uint32_t crc32c(const void *bytes, size_t size, uint32_t before) {
  const uint8_t *begin = static_cast<const uint8_t *>(bytes);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2"))
    return ~byInstruction(~before, begin, size);
#endif
  return ~byTable(~before, begin, size);
}

uint32_t dlc_crc32c(const void *bytes, uint64_t size, uint32_t before) { return crc32c(bytes, size, before); }
