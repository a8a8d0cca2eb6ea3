// Inside the runtime: how much memory the system has left.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// Bytes that this process can still get: what the system calls available, and what its control group has left. A large number
// where the system does not tell.
uint64_t availableMemory();

// Bytes of a huge page, of those that have them.
constexpr uint64_t kHugePage = 2 * 1024 * 1024;

// Asks for huge pages for the whole ones of `size` bytes from a page on; without any where the system has none.
void adviseHugePages(void *memory, uint64_t size);
