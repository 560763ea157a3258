# Headers that nearly every test includes, read by the compiler once for all of them. Outside headers alone: the list in the
# build folder is then the same in every checkout, and ccache finds what another checkout compiled.
option(TRC_PRECOMPILED "Read the standard library's and GoogleTest's headers once for all test sources" ON)

# ccache keeps apart what was compiled with different precompiled headers only if GCC leaves them in its preprocessed text.
if(TRC_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TRC_CCACHE)
    set(TRC_PRECOMPILED_FLAGS -fpch-preprocess)
endif()

# trc_test_options(<target>): what all test programs are compiled with. In a Release build -O1: the sources of tests are half
# of all sources, most of their code runs once, and -O3 takes twice as long. The library in them is compiled as users have it.
function(trc_test_options target)
    target_link_libraries(${target} PRIVATE trc_options GTest::gmock GTest::gtest)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> ${TRC_PRECOMPILED_FLAGS})
endfunction()

# trc_precompiled_tests(<target>): the headers, as tests are compiled: as a part of an executable.
function(trc_precompiled_tests target)
    if(NOT TRC_PRECOMPILED)
        return()
    endif()
    if(NOT TARGET trc_test_headers)
        set(source ${CMAKE_BINARY_DIR}/generated/test_headers.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "int main() {} // What this program is compiled for is its headers.\n")
        add_executable(trc_test_headers EXCLUDE_FROM_ALL ${source})
        trc_test_options(trc_test_headers)
        set(headers gmock/gmock.h gtest/gtest.h fmt/format.h algorithm array atomic chrono cmath complex cstdint cstring deque
            functional limits map memory mutex optional random set span string string_view thread vector)
        list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
        target_precompile_headers(trc_test_headers PRIVATE ${headers})
        target_link_libraries(trc_test_headers PRIVATE fmt::fmt Threads::Threads)
    endif()
    target_link_libraries(${target} PRIVATE fmt::fmt) # whose definitions they were compiled with
    target_precompile_headers(${target} REUSE_FROM trc_test_headers)
endfunction()
