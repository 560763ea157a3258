# glt_find_library(<back end>): finds the library under a back end of GLT by cmake/threads/<back end>.cmake, and sets in the
# caller
#   GLT_LIBRARY_FOUND, GLT_LIBRARY (what to link), GLT_LIBRARY_VERSION, GLT_LIBRARY_PREFIX (where it is),
#   GLT_LIBRARY_HINT (what to set when it was not found), and GLT_LIBRARY_PC_REQUIRES, _PC_CFLAGS, _PC_LIBS (for pkg-config).
# A back end without such a file is built on POSIX threads. Installed with the CMake package, which looks for the libraries in the
# same way. A macro: imported targets belong to the folder that calls it and those below.
set(GLT_LIBRARY_FOLDER ${CMAKE_CURRENT_LIST_DIR}/threads)
macro(glt_find_library word)
    foreach(glt_part "" _VERSION _PREFIX _HINT _PC_REQUIRES _PC_CFLAGS _PC_LIBS)
        set(GLT_LIBRARY${glt_part} "")
    endforeach()
    if(EXISTS ${GLT_LIBRARY_FOLDER}/${word}.cmake)
        include(${GLT_LIBRARY_FOLDER}/${word}.cmake)
    else()
        find_package(Threads QUIET)
        set(GLT_LIBRARY Threads::Threads)
        set(GLT_LIBRARY_PC_LIBS -pthread)
    endif()
    set(GLT_LIBRARY_FOUND OFF)
    if(GLT_LIBRARY)
        set(GLT_LIBRARY_FOUND ON)
    endif()
endmacro()
