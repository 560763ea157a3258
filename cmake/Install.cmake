# What `cmake --install` puts where: library, public headers, described machines, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS trencadis trencadis_lapack EXPORT trencadis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
include(${PROJECT_SOURCE_DIR}/cmake/PublicHeaders.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/InstallGlt.cmake)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/trencadis COMPONENT library)
install(EXPORT trencadis NAMESPACE trencadis:: FILE trencadis-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/trencadis-config.cmake.in ${CMAKE_BINARY_DIR}/trencadis-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/trencadis-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/packaging/system-blas.in ${CMAKE_BINARY_DIR}/trencadis-system-blas @ONLY)
install(PROGRAMS ${CMAKE_BINARY_DIR}/trencadis-system-blas DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT library)
foreach(name trencadis trencadis-lapack)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/trencadis-config.cmake ${CMAKE_BINARY_DIR}/trencadis-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trencadis COMPONENT library)
