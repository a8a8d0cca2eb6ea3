// Signals during calls: Python runs their handlers between its own instructions alone, which a long call keeps it from.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interrupts.h"

#if defined(DLC_WITHOUT_PYTHON)

bool isInterrupted(CallScope &) { return false; }

#else

#include "python.h"

#include <chrono>
#include <memory>

namespace {

constexpr int64_t kNanosecondsBetweenLooks = 100'000'000;
// Kernels between two looks at the clock.
constexpr uint32_t kKernelsBetweenClocks = 8;

struct Raised {
  PyObject *type, *value, *trace;
};

int raiseAgain(void *context) {
  std::unique_ptr<Raised> raised(static_cast<Raised *>(context));
  PyErr_Restore(raised->type, raised->value, raised->trace);
  return -1;
}

bool isTimeToLook(CallScope &scope) {
  if (++scope.kernelsBegun % kKernelsBetweenClocks != 0)
    return false;
  int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  bool isTime = scope.nextLook != 0 && now >= scope.nextLook;
  if (isTime || scope.nextLook == 0)
    scope.nextLook = now + kNanosecondsBetweenLooks;
  return isTime;
}

// Runs the handlers of signals; whether one raised an exception, which is then raised again between two instructions.
bool handlersRaise() {
  if (!PyGILState_Ensure || !PyErr_CheckSignals || !Py_IsInitialized())
    return false;
  int state = PyGILState_Ensure();
  bool raises = PyErr_CheckSignals() != 0;
  if (raises) {
    auto raised = std::make_unique<Raised>();
    PyErr_Fetch(&raised->type, &raised->value, &raised->trace);
    if (Py_AddPendingCall(raiseAgain, raised.get()) == 0)
      raised.release();
  }
  PyGILState_Release(state);
  return raises;
}

} // namespace

bool isInterrupted(CallScope &scope) { return isTimeToLook(scope) && handlersRaise(); }

#endif
