# Libraries found by their normal convention. Required ones stop the configuration with the Debian package to install;
# optional ones are reported by trc_report().
option(TRC_MINIMAL "Use no optional dependency, even if it is there" OFF)
set(TRC_FOUND "" CACHE INTERNAL "names of the optional dependencies found")
set(TRC_ABSENT "" CACHE INTERNAL "names of the optional dependencies not found, with the reason")

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
find_package(tomlplusplus QUIET)
find_package(Boost 1.74 QUIET COMPONENTS context)
pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc>=2.7)

foreach(pair "fmt|fmt::fmt|libfmt-dev" "nlohmann-json|nlohmann_json::nlohmann_json|nlohmann-json3-dev"
        "toml++|tomlplusplus::tomlplusplus|libtomlplusplus-dev" "hwloc >= 2.7|PkgConfig::hwloc|libhwloc-dev"
        "Boost.Context >= 1.74|Boost::context|libboost-context-dev")
    string(REPLACE "|" ";" parts "${pair}")
    list(GET parts 0 what)
    list(GET parts 1 target)
    list(GET parts 2 package)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${what} was not found; on Debian and Ubuntu: apt install ${package}")
    endif()
endforeach()

# trc_optional(<name> <found?> <why it matters, or how to get it>): records an optional dependency for the report.
function(trc_optional name found note)
    if(found)
        list(APPEND TRC_FOUND "${name}")
        set(TRC_FOUND "${TRC_FOUND}" CACHE INTERNAL "")
    else()
        list(APPEND TRC_ABSENT "${name} (${note})")
        set(TRC_ABSENT "${TRC_ABSENT}" CACHE INTERNAL "")
    endif()
endfunction()

set(note "needed by engine 'simulated' and trencadis simulate: on Debian and Ubuntu apt install libsimgrid-dev")
if(TRC_MINIMAL)
    set(note "left out of a minimal build, and with it engine 'simulated' and trencadis simulate")
else()
    pkg_check_modules(simgrid QUIET IMPORTED_TARGET simgrid>=3.32)
endif()
trc_optional(SimGrid "${simgrid_FOUND}" "${note}")

function(trc_report)
    message(STATUS "trencadis ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    foreach(name IN LISTS TRC_FOUND)
        message(STATUS "  with    ${name}")
    endforeach()
    foreach(name IN LISTS TRC_ABSENT)
        message(STATUS "  without ${name}")
    endforeach()
endfunction()
