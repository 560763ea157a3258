# libtrencadis.so: all floors in one shared library. Why static floors first, and what is exported: docs/decisions/.
get_property(floors GLOBAL PROPERTY TRC_FLOORS)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library.cpp CONTENT "// The library's sources are its floors.\n")
add_library(trencadis SHARED ${CMAKE_BINARY_DIR}/generated/library.cpp)
foreach(floor IN LISTS floors)
    get_target_property(type ${floor} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        target_link_libraries(trencadis PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${floor}>)
    endif()
endforeach()
set_target_properties(trencadis PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
                      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(trencadis PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_include_directories(trencadis INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(trencadis INTERFACE cxx_std_20)
