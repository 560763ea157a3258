# One word is one back end: a folder include/trencadis/glt/<word> with its header-only form, from which src/glt/dynamic/plugin.c
# makes the plug-in libglt_<word>.so. A back end on an outside library says in cmake/threads/<word>.cmake how that is found;
# `native` is ours (src/glt/native).
set(GLT_BACKENDS native os argobots qthreads massivethreads)

# Here and not in src: what is found must be known to tests, benchmarks and examples too.
include(${CMAKE_CURRENT_LIST_DIR}/GltLibrary.cmake)
set(found "")
set(prefixes "")
set(report "")
foreach(word IN LISTS GLT_BACKENDS)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/trencadis/glt/${word}/functions.h)
        message(FATAL_ERROR "back end '${word}' of GLT is listed, but include/trencadis/glt/${word}/functions.h does not exist")
    endif()
    set(outside OFF)
    if(EXISTS ${PROJECT_SOURCE_DIR}/cmake/threads/${word}.cmake)
        set(outside ON)
        if(GLT_MINIMAL)
            list(APPEND report "  without threads back end ${word} (left out of a minimal build)")
            continue()
        endif()
        if(GLT_SANITIZE)
            list(APPEND report
                "  without threads back end ${word} (sanitizers do not follow the units of a library that does not tell them)")
            continue()
        endif()
    endif()
    glt_find_library(${word})
    if(outside)
        if(NOT GLT_LIBRARY_FOUND)
            list(APPEND report "  without threads back end ${word} (${GLT_LIBRARY_HINT} leads to an installed one)")
            continue()
        endif()
        string(STRIP "threads back end ${word} ${GLT_LIBRARY_VERSION}" name)
        list(APPEND report "  with    ${name}")
    endif()
    list(APPEND found ${word})
    list(APPEND prefixes ${GLT_LIBRARY_PREFIX})

    # The header-only form: what a program that includes glt.h with this back end is compiled and linked with.
    add_library(glt_static_${word} INTERFACE)
    add_library(trencadis::glt_static_${word} ALIAS glt_static_${word})
    target_compile_definitions(glt_static_${word} INTERFACE GLT_STATIC=${word})
    target_include_directories(glt_static_${word} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    # Programs written for the published interface include <glt.h>. Last in the search, so that no other header of ours is found
    # so.
    target_compile_options(glt_static_${word} INTERFACE "SHELL:-idirafter ${PROJECT_SOURCE_DIR}/include/trencadis")
    if(word STREQUAL "native") # ours
        set(GLT_LIBRARY glt_${word})
        set(GLT_LIBRARY_PC_LIBS "-L\${libdir} -lglt_${word}")
    endif()
    target_link_libraries(glt_static_${word} INTERFACE ${GLT_LIBRARY})
    foreach(part REQUIRES CFLAGS LIBS)
        set(GLT_${word}_PC_${part} "${GLT_LIBRARY_PC_${part}}")
    endforeach()
endforeach()

# Known to a project around this one, too.
set(GLT_BACKENDS_FOUND "${found}" CACHE INTERNAL "the back ends of GLT that are built")
set(GLT_PREFIXES "${prefixes}" CACHE INTERNAL "where their libraries are: the check of what is installed finds them again")
set(GLT_REPORT "${report}" CACHE INTERNAL "a line for each back end on an outside library")
