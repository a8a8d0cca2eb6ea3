// Inside the runtime: the bytes of a file, mapped, or of the caller's memory.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

// Pages that are given back with the object. Not copied; moved by swapping.
class Pages {
public:
  Pages() = default;
  Pages(void *begin, uint64_t size) : address(static_cast<uint8_t *>(begin)), bytes(size) {}
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&other) noexcept;
  ~Pages();

  uint8_t *begin() const { return address; }
  uint64_t size() const { return bytes; }

private:
  uint8_t *address = nullptr;
  uint64_t bytes = 0;
};

// A regular file that is mapped for reading, whole. It stays open, so that parts of it can be mapped in other ways.
class MappedFile {
public:
  MappedFile() = default;
  // EngineError, which names the path, where it cannot be read.
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const uint8_t *begin() const { return pages.begin(); }
  uint64_t size() const { return pages.size(); }
  int descriptor() const { return file; }

private:
  int file = -1;
  Pages pages;
};
