# Sources are compiled together, as scripts/unity_groups.py finds that they may: half of a build's time are headers and the
# templates in them, once for each of some five hundred sources. Not in the preset dev, where one works all day: one line changed
# would compile ten sources.
set(TRC_CHECKOUT ${PROJECT_SOURCE_DIR})
option(TRC_UNITY "Compile sources together where none can mean something else by that" ON)
if(TRC_UNITY)
    find_package(Python3 QUIET COMPONENTS Interpreter) # here, once: each time it asks the interpreter ten things
endif()

# trc_unity(<target> source...): the sources of this folder that the target is made of.
function(trc_unity target)
    if(NOT TRC_UNITY OR NOT Python3_FOUND)
        return()
    endif()
    set(sources "")
    foreach(source IN LISTS ARGN)
        get_filename_component(path "${source}" ABSOLUTE)
        if(path MATCHES "^${TRC_CHECKOUT}/.*\\.cpp$")
            list(APPEND sources ${path})
        endif()
    endforeach()
    set(script ${TRC_CHECKOUT}/scripts/unity_groups.py)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${sources} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script} ${sources}) # a new name may part two of them
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(line IN LISTS lines)
        if(line MATCHES "^([0-9]+) (.+)$")
            set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${target}_${CMAKE_MATCH_1})
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
        UNITY_BUILD_CODE_AFTER_INCLUDE "#undef TRC_INSTANTIATE")
    # Of types that are one source's.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
