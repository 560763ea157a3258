# libtrencadis.so: all floors in one shared library. Why static floors first, and what is exported: docs/decisions/.
get_property(floors GLOBAL PROPERTY TRC_FLOORS)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library.cpp CONTENT "// The library's sources are its floors.\n")
add_library(trencadis SHARED ${CMAKE_BINARY_DIR}/generated/library.cpp)
# The floors' objects rather than their archives: archives that name one another appear several times on the link line.
foreach(floor IN LISTS floors)
    get_target_property(type ${floor} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        target_sources(trencadis PRIVATE $<TARGET_OBJECTS:${floor}>)
        get_target_property(links ${floor} LINK_LIBRARIES)
        list(FILTER links EXCLUDE REGEX "^(trc_|glt_threads)")
        target_link_libraries(trencadis PRIVATE ${links})
    endif()
endforeach()

# What it shows: the list, and every routine that the public headers declare.
set(routines "")
foreach(file IN ITEMS linear_algebra distributed)
    set(header ${PROJECT_SOURCE_DIR}/src/drivers/${file}.hpp)
    set(scope trencadis::)
    if(file STREQUAL "distributed")
        set(scope trencadis::distributed::)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} lines REGEX "^(template <Scalar T> )?(void|Index|Real<T>) [a-z0-9_]+\\(Crew&")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*(void|Index|Real<T>) ([a-z0-9_]+)\\(Crew&.*" "\\1?${scope}\\2" name "${line}")
        string(REPLACE "Index?" "long?" name "${name}")
        string(REPLACE "Real<T>?" "trencadis::RealOf?*::type?" name "${name}")
        string(APPEND routines "            ${name}?[fds][lot]*??trencadis::Crew?*;\n") # <float>, <double>, <std::complex<...>
    endforeach()
endforeach()
set(map ${CMAKE_BINARY_DIR}/generated/exports.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${map} @ONLY)

if(NOT DEFINED SKBUILD) # a wheel has no symbolic links: each name would be a copy
    set_target_properties(trencadis PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
endif()
set_target_properties(trencadis PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${map})
# Once loaded it stays: its threads sleep in its code, and a process that closes it goes on.
target_link_options(trencadis PRIVATE -Wl,--version-script=${map} -Wl,-z,nodelete)
target_include_directories(trencadis INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(trencadis INTERFACE cxx_std_20)
