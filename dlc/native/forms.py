"""What `--emit` calls the forms of native code."""

LIBRARY, ARCHIVE, HEADER, PROGRAM, C_RUNTIME = "lib", "static-lib", "header", "exe", "c-runtime"
FORMS = (LIBRARY, ARCHIVE, HEADER, PROGRAM, C_RUNTIME)
