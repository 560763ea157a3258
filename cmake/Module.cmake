# trc_module(<name> TEST <floor> SOURCES file... LINKS target...)
#
# What others' libraries come with is a module, loaded when something is made that needs it (base/module.hpp says why). The
# floor's tests are run with it.
function(trc_module name)
    cmake_parse_arguments(MODULE "" "TEST" "SOURCES;LINKS" ${ARGN})
    add_library(${name} MODULE ${MODULE_SOURCES})
    target_link_libraries(${name} PRIVATE trc_options ${MODULE_LINKS})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    if(DEFINED SKBUILD) # beside libtrencadis.so, which looks for it there
        install(TARGETS ${name} LIBRARY DESTINATION trencadis COMPONENT python)
    endif()
    if(TARGET test_${MODULE_TEST})
        add_dependencies(test_${MODULE_TEST} ${name})
    endif()
endfunction()
