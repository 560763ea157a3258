# What `cmake --install` puts where: library, public headers, described machines, pkg-config file and CMake package. GLT
# installs itself (glt/cmake/Install.cmake).
include(CMakePackageConfigHelpers)
install(TARGETS trencadis trencadis_lapack EXPORT trencadis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
include(${PROJECT_SOURCE_DIR}/cmake/PublicHeaders.cmake)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/trencadis COMPONENT library)
install(EXPORT trencadis NAMESPACE trencadis:: FILE trencadis-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/trencadis-config.cmake.in ${CMAKE_BINARY_DIR}/trencadis-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/trencadis-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/packaging/system-blas.in ${CMAKE_BINARY_DIR}/trencadis-system-blas @ONLY)
install(PROGRAMS ${CMAKE_BINARY_DIR}/trencadis-system-blas DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT library)
# Relative to the files themselves, so that they are right wherever the tree is put.
file(RELATIVE_PATH TRC_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" TRC_PC_PREFIX "${TRC_PC_PREFIX}")
foreach(name trencadis trencadis-lapack)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/trencadis-config.cmake ${CMAKE_BINARY_DIR}/trencadis-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis COMPONENT library)
