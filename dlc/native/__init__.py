"""Models as native code: a library, an archive or a program that C and C++ programs link, with a header of typed functions.

docs/native-code.md is its manual. The C code here is written for the compiler `cc`; what it calls is in
`runtime/src/native_model.cpp`.
"""
