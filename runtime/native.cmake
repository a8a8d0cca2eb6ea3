# Builds libdlc_native.a: what models in native code need of the runtime (docs/native-code.md), as one object with the part of the C++
# library that it uses in it, so that C programs link it by `cc` alone. Only names that begin with dlc_ can be seen from outside.
set(native_sources affinity call checksum doacross errors half interrupts large_blocks memory memref_copy processor_features profile system_memory thread_pool)
list(TRANSFORM native_sources REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/runtime/src/\\1.cpp")

function(find_static_library name result)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${file}" AND EXISTS "${file}")
    set(${result} ${file} PARENT_SCOPE)
  endif()
endfunction()
find_static_library(libstdc++.a cxx_archive)
find_static_library(libgcc_eh.a unwind_archive)

if(APPLE OR NOT cxx_archive OR NOT CMAKE_OBJCOPY)
  message(STATUS "no libdlc_native.a: it needs ELF, binutils' objcopy and a static libstdc++")
else()
  add_library(dlc_native_objects OBJECT ${native_sources} ${native_only})
  target_compile_features(dlc_native_objects PRIVATE cxx_std_17)
  target_compile_options(dlc_native_objects PRIVATE -Wall -Wextra -ffunction-sections -fdata-sections)
  target_compile_definitions(dlc_native_objects PRIVATE DLC_WITHOUT_PYTHON DLC_HIDDEN DLC_API= DLC_NATIVE_API=)
  target_include_directories(dlc_native_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/include)
  set_target_properties(dlc_native_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  set(native_archive ${CMAKE_CURRENT_BINARY_DIR}/libdlc_native.a)
  add_custom_command(
    OUTPUT ${native_archive}
    # Groups would be joined with those of C++ programs, whose copies the linker may take instead.
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o dlc_native_all.o
            $<TARGET_OBJECTS:dlc_native_objects> ${cxx_archive} ${unwind_archive}
    # Names that GNU's linker keeps unique become local only once they are weak.
    COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${CMAKE_CURRENT_SOURCE_DIR}/runtime/native_names.txt --wildcard --weaken-symbol=_Z*
            dlc_native_all.o
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=dlc_*" --strip-debug dlc_native_all.o dlc_native.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${native_archive}
    COMMAND ${CMAKE_AR} rcs ${native_archive} dlc_native.o
    DEPENDS dlc_native_objects $<TARGET_OBJECTS:dlc_native_objects> ${CMAKE_CURRENT_SOURCE_DIR}/runtime/native_names.txt
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    COMMAND_EXPAND_LISTS
    VERBATIM)
  add_custom_target(dlc_native ALL DEPENDS ${native_archive})
  install(FILES ${native_archive} DESTINATION runtime/lib)
endif()
