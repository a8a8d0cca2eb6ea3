// Inside the runtime: the part of CPython's stable ABI that it uses.
//
// Declared here so that no headers of Python are needed to build dlc, and one library serves all versions. The symbols are
// weak, since programs without Python load the library, too. They are those of the process that loads it.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

struct PyObject {
  int64_t references;
  const void *type;
};

using PyFastCall = PyObject *(*)(PyObject *self, PyObject *const *arguments, int64_t count);

struct PyMethodDef {
  const char *name;
  PyFastCall method;
  int flags;
  const char *doc;
};
// Flag of a method that is a PyFastCall.
constexpr int kFastCall = 0x80;

#define DLC_PYTHON extern "C" __attribute__((weak))
DLC_PYTHON PyObject PyDict_Type, PyList_Type, PyTuple_Type, _Py_NoneStruct;
DLC_PYTHON void Py_IncRef(PyObject *object);
DLC_PYTHON void Py_DecRef(PyObject *object);
DLC_PYTHON PyObject *PyCFunction_NewEx(PyMethodDef *method, PyObject *self, PyObject *module);
DLC_PYTHON PyObject *PyCapsule_New(void *pointer, const char *name, void (*destructor)(PyObject *));
DLC_PYTHON void *PyCapsule_GetPointer(PyObject *capsule, const char *name);
DLC_PYTHON int64_t PyDict_Size(PyObject *dict);
DLC_PYTHON PyObject *PyDict_GetItem(PyObject *dict, PyObject *key);
DLC_PYTHON PyObject *PyList_New(int64_t size);
DLC_PYTHON int64_t PyList_Size(PyObject *list);
DLC_PYTHON PyObject *PyList_GetItem(PyObject *list, int64_t index);
DLC_PYTHON int PyList_SetItem(PyObject *list, int64_t index, PyObject *item);
DLC_PYTHON int PyList_SetSlice(PyObject *list, int64_t low, int64_t high, PyObject *items);
DLC_PYTHON int PyList_Append(PyObject *list, PyObject *item);
DLC_PYTHON int64_t PyTuple_Size(PyObject *tuple);
DLC_PYTHON PyObject *PyTuple_GetItem(PyObject *tuple, int64_t index);
DLC_PYTHON PyObject *PyTuple_Pack(int64_t size, ...);
DLC_PYTHON PyObject *PyLong_FromLong(long value);
DLC_PYTHON void *PyLong_AsVoidPtr(PyObject *value);
DLC_PYTHON PyObject *PyErr_Occurred();
DLC_PYTHON void *PyEval_SaveThread();
DLC_PYTHON void PyEval_RestoreThread(void *state);
DLC_PYTHON int Py_IsInitialized();
DLC_PYTHON int Py_AddPendingCall(int (*function)(void *), void *context);
DLC_PYTHON int PyGILState_Ensure();
DLC_PYTHON void PyGILState_Release(int state);
DLC_PYTHON int PyErr_CheckSignals();
DLC_PYTHON void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **trace);
DLC_PYTHON void PyErr_Restore(PyObject *type, PyObject *value, PyObject *trace);
#undef DLC_PYTHON
