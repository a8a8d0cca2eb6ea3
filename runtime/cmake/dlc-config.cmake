# find_package(dlc): the target dlc::runtime, a library that runs engine files (dlc/runtime.h), and the function dlc_add_model.
#
# cmake -Ddlc_ROOT=$(python -c "import dlc.runtime.library as r; print(r.find_library().parents[1])")
get_filename_component(dlc_FOLDER "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET dlc::runtime)
  add_library(dlc::runtime SHARED IMPORTED)
  set_target_properties(dlc::runtime PROPERTIES
    IMPORTED_LOCATION ${dlc_FOLDER}/lib/libdlc_runtime.so
    INTERFACE_INCLUDE_DIRECTORIES ${dlc_FOLDER}/include)
endif()

# The command of the environment that this package is installed in: bin/ beside lib/python3.*/site-packages/dlc/runtime.
find_program(DLC_COMMAND dlc HINTS ${dlc_FOLDER}/../../../../../bin)

# dlc_add_model(NAME MODEL [TARGET cpu:...]) compiles a model to the static library NAME, whose header is NAME.h.
function(dlc_add_model name model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TARGET" "")
  if(NOT DLC_COMMAND)
    message(FATAL_ERROR "dlc_add_model needs the command dlc; name it by -DDLC_COMMAND=PATH")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET cpu)
  endif()
  get_filename_component(source ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_model)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/lib${name}.a
    BYPRODUCTS ${folder}/${name}.h
    COMMAND ${DLC_COMMAND} compile ${source} --emit=static-lib --name ${name} --target ${arg_TARGET} -o ${folder}/lib${name}.a
    DEPENDS ${source}
    VERBATIM)
  add_custom_target(${name}_code DEPENDS ${folder}/lib${name}.a)
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_code)
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE ${folder}/lib${name}.a m pthread)
endfunction()
