# What `cmake --install` puts where of GLT: headers, libglt.so and the plug-ins beside it, pkg-config files, and for the CMake package the
# way back to the libraries that the header-only form needs.
install(TARGETS glt EXPORT trencadis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
foreach(word IN LISTS GLT_BACKENDS_FOUND)
    get_target_property(type glt_${word} TYPE)
    if(type STREQUAL "SHARED_LIBRARY") # programs link to it
        install(TARGETS glt_${word} EXPORT trencadis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    else()
        install(TARGETS glt_${word} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    endif()
endforeach()
install(FILES include/trencadis/glt.h include/trencadis/glt.hpp include/trencadis/fast_glt.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trencadis COMPONENT library)
install(DIRECTORY include/trencadis/glt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trencadis COMPONENT library)

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis)
install(FILES cmake/GltLibrary.cmake DESTINATION ${folder} COMPONENT library)
install(DIRECTORY cmake/threads DESTINATION ${folder} COMPONENT library)

# Relative to the files themselves, so that they are right wherever the tree is put.
file(RELATIVE_PATH GLT_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" GLT_PC_PREFIX "${GLT_PC_PREFIX}")
foreach(name glt glt-static)
    configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
foreach(word IN LISTS GLT_BACKENDS_FOUND)
    foreach(part REQUIRES LIBS CFLAGS)
        set(GLT_PC_${part} "${GLT_${word}_PC_${part}}")
    endforeach()
    configure_file(cmake/glt-static-backend.pc.in ${CMAKE_BINARY_DIR}/glt-static-${word}.pc.in @ONLY)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/glt-static-${word}.pc INPUT ${CMAKE_BINARY_DIR}/glt-static-${word}.pc.in) # where libraries lie
    install(FILES ${CMAKE_BINARY_DIR}/glt-static-${word}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
