# trc_registry(<kind> <EntryType> <header> [FOLDER folder] WORDS word...)
#
# The build list is the registry: one word is one thing. For each word the file <word>.cpp of the calling folder (or of
# FOLDER in it) is a source and defines, in namespace trencadis,
#
#     extern const <EntryType> <kind>_<word>;
#     const <EntryType> <kind>_<word>{...};
#
# and a generated source defines `std::span<const <EntryType>* const> <kind>_entries()`, which <header> declares. Dashes in a
# word become underscores in the identifier and in the file's name. The sources are appended to <KIND>_SOURCES
# in the caller, as in: trc_floor(scheduling SOURCES view.cpp ${SCHEDULER_SOURCES}).
function(trc_registry kind type header)
    cmake_parse_arguments(REGISTRY "" "FOLDER" "WORDS" ${ARGN})
    set(sources "")
    set(declarations "")
    set(pointers "")
    foreach(word IN LISTS REGISTRY_WORDS)
        string(REPLACE "-" "_" id ${word})
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/${id}.cpp)
        if(REGISTRY_FOLDER)
            set(source ${CMAKE_CURRENT_SOURCE_DIR}/${REGISTRY_FOLDER}/${id}.cpp)
        endif()
        if(NOT EXISTS ${source})
            message(FATAL_ERROR "${kind} '${word}' is listed, but ${source} does not exist")
        endif()
        list(APPEND sources ${source})
        string(APPEND declarations "extern const ${type} ${kind}_${id};\n")
        string(APPEND pointers "    &${kind}_${id},\n")
    endforeach()
    if(sources)
        set(generated ${CMAKE_BINARY_DIR}/generated/${kind}_entries.cpp)
        file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT "// Written by cmake/Registry.cmake from the list of words.
#include \"@header@\"

namespace trencadis {

@declarations@
std::span<const @type@* const> @kind@_entries()
{
    static const @type@* const entries[] = {
@pointers@    };
    return entries;
}

} // namespace trencadis
")
        list(APPEND sources ${generated})
    endif()
    string(TOUPPER ${kind} prefix)
    set(${prefix}_SOURCES ${sources} PARENT_SCOPE)
endfunction()
