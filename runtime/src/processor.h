// Inside the runtime: instructions that C++ has no word for.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Tells the processor that this thread spins.
inline void spinHint() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Makes stores that bypass the caches visible before later ones.
inline void drainStores() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
