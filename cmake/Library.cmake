# libtrencadis.so: all floors in one shared library. Why static floors first, and what is exported: docs/decisions/.
get_property(floors GLOBAL PROPERTY TRC_FLOORS)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library.cpp CONTENT "// The library's sources are its floors.\n")
add_library(trencadis SHARED ${CMAKE_BINARY_DIR}/generated/library.cpp)
set(archives "")
foreach(floor IN LISTS floors)
    get_target_property(type ${floor} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND archives ${floor})
    endif()
endforeach()
target_link_libraries(trencadis PRIVATE ${archives})
list(JOIN archives "," whole)
set_target_properties(trencadis PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole}") # however often a floor names another
set_target_properties(trencadis PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
                      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(trencadis PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_include_directories(trencadis INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(trencadis INTERFACE cxx_std_20)
