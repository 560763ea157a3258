# How everything is compiled. Options a user may want to change are cache variables of CMake itself.
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the floors end in a shared library
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Calls inside the library are calls, not questions to the dynamic linker: nobody may replace our functions one by one. The
# runtime's path per task is a dozen of them.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fno-semantic-interposition TRC_HAS_NO_INTERPOSITION)
if(TRC_HAS_NO_INTERPOSITION)
    add_compile_options(-fno-semantic-interposition)
endif()
add_link_options(-Wl,-Bsymbolic-functions)

find_program(TRC_CCACHE ccache)
mark_as_advanced(TRC_CCACHE)
if(TRC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${TRC_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TRC_CCACHE})
endif()

set(TRC_SANITIZE "" CACHE STRING "Value for -fsanitize=, as in address,undefined")
add_library(trc_options INTERFACE)
target_compile_options(trc_options INTERFACE -Wall -Wextra)
target_compile_definitions(trc_options INTERFACE TRC_VERSION="${PROJECT_VERSION}")
if(TRC_SANITIZE)
    # Everything in the build, tests included, or the runtime libraries disagree.
    add_compile_options(-fsanitize=${TRC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=${TRC_SANITIZE})
endif()
