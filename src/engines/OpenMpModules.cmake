# libtrencadis_openmp_gnu.so by g++ for libgomp, libtrencadis_openmp_llvm.so by clang for libomp. What the compilers know of
# OpenMP is tried, not believed: iterators in depend clauses and mutexinoutset are needed, inoutset is welcome.
set(module_source ${CMAKE_CURRENT_SOURCE_DIR}/openmp/module.cpp)
set(module_flags -std=c++20 -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden -fno-exceptions -I${PROJECT_SOURCE_DIR}/src)

# trc_openmp_module(<word> <compiler> <flag of OpenMP>): a module, if the compiler can make it
function(trc_openmp_module word compiler flag)
    set(file libtrencadis_openmp_${word}.so)
    set(found OFF) # tried each time: packages come and go
    foreach(candidate -DTRC_HAS_INOUTSET -UTRC_HAS_INOUTSET)
        if(compiler AND NOT found)
            execute_process(COMMAND ${compiler} ${module_flags} ${flag} ${candidate} ${module_source}
                                    -o ${CMAKE_CURRENT_BINARY_DIR}/tried_${word}.so
                            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
            if(NOT failed)
                set(found ON)
                set(definition ${candidate})
            endif()
        endif()
    endforeach()
    set(TRC_OPENMP_${word}_FOUND ${found} CACHE INTERNAL "")
    if(NOT TRC_OPENMP_${word}_FOUND)
        return()
    endif()
    set(output ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${file})
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
        COMMAND ${compiler} ${module_flags} ${flag} ${definition} ${module_source} -o ${output}
        DEPENDS ${module_source} ${CMAKE_CURRENT_SOURCE_DIR}/openmp/runtime.h
        COMMENT "Building ${file} with ${compiler}" VERBATIM)
    add_custom_target(trencadis_openmp_${word} ALL DEPENDS ${output})
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    if(DEFINED SKBUILD) # beside libtrencadis.so, which looks for it there
        install(FILES ${output} DESTINATION trencadis COMPONENT python)
    endif()
    if(TARGET test_engines)
        add_dependencies(test_engines trencadis_openmp_${word})
    endif()
endfunction()

if(TRC_MINIMAL OR TRC_SANITIZE MATCHES "thread") # which sees no order where a runtime that it does not know makes one
    set(TRC_OPENMP_gnu_FOUND OFF)
    set(TRC_OPENMP_llvm_FOUND OFF)
else()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(gnu_compiler ${CMAKE_CXX_COMPILER})
    else()
        find_program(TRC_GXX g++)
        set(gnu_compiler ${TRC_GXX})
    endif()
    trc_openmp_module(gnu "${gnu_compiler}" -fopenmp)
    # Of the versions that Debian 12 has, 19 is the one whose priorities and dependences are sound (docs/engines.md).
    find_program(TRC_CLANGXX_OPENMP NAMES clang++-21 clang++-20 clang++-19)
    mark_as_advanced(TRC_CLANGXX_OPENMP)
    trc_openmp_module(llvm "${TRC_CLANGXX_OPENMP}" -fopenmp=libomp)
endif()
set(note_gnu "on Debian and Ubuntu: apt install g++ libgomp1")
set(note_llvm "on Debian and Ubuntu: apt install clang-19 libomp-19-dev")
if(TRC_MINIMAL OR TRC_SANITIZE MATCHES "thread")
    set(note_gnu "left out of minimal builds and of those with the thread sanitizer")
    set(note_llvm ${note_gnu})
endif()
trc_optional("engine openmp-gnu" "${TRC_OPENMP_gnu_FOUND}" "${note_gnu}")
trc_optional("engine openmp-llvm" "${TRC_OPENMP_llvm_FOUND}" "${note_llvm}")
