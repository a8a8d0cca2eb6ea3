"""What `--emit` calls the forms of native code."""

LIBRARY, ARCHIVE, HEADER, PROGRAM = "lib", "static-lib", "header", "exe"
FORMS = (LIBRARY, ARCHIVE, HEADER, PROGRAM)
