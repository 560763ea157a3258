# GLT, the interface to user-level threads. One word is one back end: a folder include/trencadis/glt/<word> with its header-only form,
# from which src/threads/glt/plugin.c makes the plug-in libglt_<word>.so. A back end on an outside library says in
# cmake/threads/<word>.cmake how that is found; one of our own has its sources in src/threads/<word>.
set(GLT_BACKENDS native os argobots qthreads massivethreads)

# Here and not in src/threads: what is found must be known to tests, benchmarks and examples too.
include(${CMAKE_CURRENT_LIST_DIR}/GltLibrary.cmake)
set(GLT_BACKENDS_FOUND "")
set(GLT_PREFIXES "") # of the outside libraries: the check of the installed tree finds them again
foreach(word IN LISTS GLT_BACKENDS)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/trencadis/glt/${word}/functions.h)
        message(FATAL_ERROR "back end '${word}' of GLT is listed, but include/trencadis/glt/${word}/functions.h does not exist")
    endif()
    set(outside OFF)
    if(EXISTS ${PROJECT_SOURCE_DIR}/cmake/threads/${word}.cmake)
        set(outside ON)
        if(TRC_MINIMAL)
            trc_optional("threads back end ${word}" OFF "left out of a minimal build")
            continue()
        endif()
        if(TRC_SANITIZE)
            trc_optional("threads back end ${word}" OFF "sanitizers do not follow the units of a library that does not tell them")
            continue()
        endif()
    endif()
    glt_find_library(${word})
    if(outside)
        string(STRIP "threads back end ${word} ${GLT_LIBRARY_VERSION}" name)
        trc_optional("${name}" ${GLT_LIBRARY_FOUND} "${GLT_LIBRARY_HINT} leads to an installed one")
        if(NOT GLT_LIBRARY_FOUND)
            continue()
        endif()
    endif()
    list(APPEND GLT_BACKENDS_FOUND ${word})
    list(APPEND GLT_PREFIXES ${GLT_LIBRARY_PREFIX})

    # The header-only form: what a program that includes glt.h with this back end is compiled and linked with.
    add_library(glt_static_${word} INTERFACE)
    add_library(trencadis::glt_static_${word} ALIAS glt_static_${word})
    target_compile_definitions(glt_static_${word} INTERFACE GLT_STATIC=${word})
    target_include_directories(glt_static_${word} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    # Programs written for the published interface include <glt.h>. Last in the search, so that no other header of ours is found so.
    target_compile_options(glt_static_${word} INTERFACE "SHELL:-idirafter ${PROJECT_SOURCE_DIR}/include/trencadis")
    if(EXISTS ${PROJECT_SOURCE_DIR}/src/threads/${word}) # ours
        set(GLT_LIBRARY glt_${word})
        set(GLT_LIBRARY_PC_LIBS "-L\${libdir} -lglt_${word}")
    endif()
    target_link_libraries(glt_static_${word} INTERFACE ${GLT_LIBRARY})
    foreach(part REQUIRES CFLAGS LIBS)
        set(GLT_${word}_PC_${part} "${GLT_LIBRARY_PC_${part}}")
    endforeach()
endforeach()
