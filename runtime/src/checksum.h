// Inside the runtime: the checksum of engine files.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

// CRC-32C (Castagnoli, RFC 3720) of `size` bytes that follow those of the checksum `before`: 8 bytes take 3 cycles where the
// processor has the instruction.
uint32_t crc32c(const void *bytes, size_t size, uint32_t before = 0);
