# Installs the C++ headers that <trencadis/trencadis.hpp> needs, which are those that say nothing of how it works. In the source
# tree they include each other from src/, as "base/error.hpp"; installed they lie in include/trencadis/ and say
# "trencadis/base/error.hpp", so that a user's include path gains one name only. What a header declares for the library itself
# stays here: the lines between `inside >>>` and `<<<`, which hold no data and nothing virtual, so that a class is the same with
# and without them, and lines that end with `// inside`.
function(trc_without_inside variable)
    string(REGEX REPLACE "[^\n]*// inside\n" "" rest "${${variable}}")
    string(FIND "${rest}" "// inside >>>" begin)
    while(NOT begin EQUAL -1)
        string(FIND "${rest}" "// <<<\n" end)
        string(SUBSTRING "${rest}" 0 ${begin} before)
        string(REGEX REPLACE "[ \n]+$" "\n" before "${before}")
        math(EXPR end "${end} + 7")
        string(SUBSTRING "${rest}" ${end} -1 after)
        string(CONCAT rest "${before}" "${after}")
        string(FIND "${rest}" "// inside >>>" begin)
    endwhile()
    set(${variable} "${rest}" PARENT_SCOPE)
endfunction()
set(TRC_PUBLIC_HEADERS
    base/error.hpp base/node_bytes.hpp base/scalar.hpp base/types.hpp graph/access_mode.hpp graph/info.hpp graph/waiting.hpp
    matrix/ops.hpp matrix/tile_owners.hpp observe/trace.hpp
    drivers/distributed.hpp drivers/incremental_lu.hpp drivers/linear_algebra.hpp session/session.hpp drivers/tile_qr.hpp)
set(trc_staged ${CMAKE_BINARY_DIR}/generated/include/trencadis)
file(REMOVE_RECURSE ${trc_staged}) # of an earlier configuration, with other headers
foreach(header IN LISTS TRC_PUBLIC_HEADERS ITEMS flow.hpp trencadis.hpp)
    set(source ${PROJECT_SOURCE_DIR}/src/${header})
    if(NOT header MATCHES "/")
        set(source ${PROJECT_SOURCE_DIR}/include/trencadis/${header})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} text)
    trc_without_inside(text)
    string(REGEX REPLACE "#include \"(trencadis/)?([a-z_]+[/.])" "#include \"trencadis/\\2" text "${text}")
    file(CONFIGURE OUTPUT ${trc_staged}/${header} CONTENT "${text}" @ONLY)
endforeach()
install(DIRECTORY ${trc_staged} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/include/trencadis/trencadis.h ${PROJECT_SOURCE_DIR}/include/trencadis/distributed.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trencadis COMPONENT library)
