// Mapping of files.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mapped_file.h"
#include "engine_error.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

Pages::Pages(Pages &&other) noexcept { *this = std::move(other); }

Pages &Pages::operator=(Pages &&other) noexcept {
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

Pages::~Pages() {
  if (bytes)
    munmap(address, bytes);
}

namespace {

[[noreturn]] void fail(const std::string &path, const char *reason) {
  throw EngineError(DLC_BAD_ENGINE, "'" + path + "' cannot be read: " + reason);
}

} // namespace

MappedFile::MappedFile(const std::string &path) {
  // A pipe without a writer would keep a plain open waiting.
  file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail(path, std::strerror(errno));
  struct stat facts;
  if (fstat(file, &facts) != 0)
    fail(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode))
    fail(path, S_ISDIR(facts.st_mode) ? "it is a folder" : "it is no regular file");
  if (facts.st_size == 0)
    return;
  uint64_t size = static_cast<uint64_t>(facts.st_size);
  void *begin = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (begin == MAP_FAILED)
    fail(path, std::strerror(errno));
  pages = Pages(begin, size);
}

MappedFile::MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(file, other.file);
  std::swap(pages, other.pages);
  return *this;
}

MappedFile::~MappedFile() {
  if (file >= 0)
    close(file);
}
