# What `cmake --install` puts where: headers, libglt.so and the plug-ins beside it, pkg-config files, and the CMake package glt,
# which finds the libraries again that the header-only form needs.
include(CMakePackageConfigHelpers)
install(TARGETS glt EXPORT glt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
foreach(word IN LISTS GLT_BACKENDS_FOUND)
    get_target_property(type glt_${word} TYPE)
    if(type STREQUAL "SHARED_LIBRARY") # programs link to it
        install(TARGETS glt_${word} EXPORT glt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    else()
        install(TARGETS glt_${word} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    endif()
endforeach()
install(DIRECTORY include/trencadis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/glt)
install(EXPORT glt NAMESPACE trencadis:: FILE glt-targets.cmake DESTINATION ${folder} COMPONENT library)
configure_package_config_file(cmake/glt-config.cmake.in ${PROJECT_BINARY_DIR}/glt-config.cmake INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/glt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/GltLibrary.cmake ${PROJECT_BINARY_DIR}/glt-config.cmake ${PROJECT_BINARY_DIR}/glt-config-version.cmake
        DESTINATION ${folder} COMPONENT library)
install(DIRECTORY cmake/threads DESTINATION ${folder} COMPONENT library)

# Relative to the files themselves, so that they are right wherever the tree is put.
file(RELATIVE_PATH GLT_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" GLT_PC_PREFIX "${GLT_PC_PREFIX}")
foreach(name glt glt-static)
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
foreach(word IN LISTS GLT_BACKENDS_FOUND)
    foreach(part REQUIRES LIBS CFLAGS)
        set(GLT_PC_${part} "${GLT_${word}_PC_${part}}")
    endforeach()
    set(file ${PROJECT_BINARY_DIR}/glt-static-${word}.pc)
    configure_file(cmake/glt-static-backend.pc.in ${file}.in @ONLY)
    file(GENERATE OUTPUT ${file} INPUT ${file}.in) # where libraries lie
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
