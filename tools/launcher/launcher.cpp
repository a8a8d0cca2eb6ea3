// What a shell starts as `dlc`, `dlc-opt` or `dlc-check-proof`; DLC_COMMAND is the name. Python answers an interrupt that comes
// while it starts, for some tens of milliseconds, with a traceback. So this program first holds interrupts back, by a mask that
// exec keeps, and then becomes `dlc-entry`, the script beside it, which pip wrote for the Python that it installed dlc for.
// That script (tools/entry.py) lets interrupts in as soon as it handles them; one that came before has waited until then.
//
// Arguments of dlc-entry: the command, "held" or "as-before", the path of this program, and then the user's own.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cctype>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <sys/auxv.h>
#endif

namespace {

char entryName[] = "dlc-entry", command[] = DLC_COMMAND, held[] = "held", asBefore[] = "as-before";

// Holds interrupts back. False where they were already: then it is not for us to let them in.
bool holdInterrupts() {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  return sigismember(&before, SIGINT) == 0;
}

// The path by which this program was started, perhaps a link to it; from the working folder if it is not absolute.
const char *ownPath() {
#if defined(__APPLE__)
  static char path[PATH_MAX];
  uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? path : command;
#else
  return reinterpret_cast<const char *>(getauxval(AT_EXECFN));
#endif
}

// Writes the path of `name` in the folder of `path`; false if it is too long.
bool beside(const char *path, const char *name, char (&result)[PATH_MAX]) {
  const char *slash = std::strrchr(path, '/');
  const auto folder = static_cast<int>(slash == nullptr ? 0 : slash + 1 - path);
  return std::snprintf(result, sizeof result, "%.*s%s", folder, path, name) < PATH_MAX;
}

// Becomes the entry beside `path`, a file or a link, else returns why it cannot (an errno). Where a link leads to comes first, as
// an entry beside the link may be of another installation. Beside the link it is where single files are links to a store, as with
// `uv pip install --link-mode=symlink`.
int becomeEntry(const char *path, char **arguments) {
  char target[PATH_MAX], next[PATH_MAX];
  int error = ENOENT;
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length > 0) {
    target[length] = '\0'; // readlink writes none
    if (target[0] == '/')
      error = becomeEntry(target, arguments);
    else if (beside(path, target, next))
      error = becomeEntry(next, arguments);
  }
  if (!beside(path, entryName, next))
    return ENAMETOOLONG;
  execv(next, arguments);
  return error == ENOENT ? errno : error;
}

int fail(int error) {
  char why[256];
  std::snprintf(why, sizeof why, "%s", std::strerror(error));
  why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  constexpr char text[] = "%s: error: cannot start the %s beside %s, or the Python in its first line: %s; install dlc again\n";
  std::fprintf(stderr, text, command, entryName, ownPath(), why);
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  char *own[] = {entryName, command, holdInterrupts() ? held : asBefore, const_cast<char *>(ownPath())};
  const size_t given = argc > 1 ? static_cast<size_t>(argc) - 1 : 0; // without the name, which exec need not give
  auto arguments = static_cast<char **>(std::calloc(given + 5, sizeof *argv)); // a null pointer is the last
  if (arguments == nullptr)
    return fail(ENOMEM);
  std::memcpy(arguments, own, sizeof own);
  if (given > 0)
    std::memcpy(arguments + 4, argv + 1, given * sizeof *argv);
  return fail(becomeEntry(own[3], arguments));
}
