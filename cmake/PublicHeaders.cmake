# Installs the C++ headers that <trencadis/trencadis.hpp> needs. In the source tree they include each other from src/, as
# "graph/task_flow.hpp"; installed they lie in include/trencadis/ and say "trencadis/graph/flow.hpp", so that a user's include
# path gains one name only.
set(TRC_PUBLIC_HEADERS
    base/error.hpp base/float_modes.hpp base/node_bytes.hpp base/registry.hpp base/scalar.hpp base/types.hpp
    graph/access.hpp graph/codelet.hpp graph/data.hpp graph/dependences.hpp graph/executor.hpp graph/flow.hpp graph/flow_options.hpp graph/info.hpp graph/priority.hpp
    graph/task.hpp graph/task_context.hpp graph/task_flow.hpp graph/task_pool.hpp graph/team.hpp graph/waiting.hpp
    kernels/provider.hpp kernels/routines.hpp machine/machine.hpp matrix/ops.hpp observe/trace.hpp session/linear_algebra.hpp session/session.hpp)
set(trc_staged ${CMAKE_BINARY_DIR}/generated/include/trencadis)
foreach(header IN LISTS TRC_PUBLIC_HEADERS ITEMS trencadis.hpp)
    set(source ${PROJECT_SOURCE_DIR}/src/${header})
    if(header STREQUAL "trencadis.hpp")
        set(source ${PROJECT_SOURCE_DIR}/include/trencadis/${header})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} text)
    string(REGEX REPLACE "#include \"([a-z_]+/)" "#include \"trencadis/\\1" text "${text}")
    file(CONFIGURE OUTPUT ${trc_staged}/${header} CONTENT "${text}" @ONLY)
endforeach()
install(DIRECTORY ${trc_staged} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/include/trencadis/trencadis.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trencadis COMPONENT library)
