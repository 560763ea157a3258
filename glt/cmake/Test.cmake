# glt_test(<name> SOURCES file... [LINKS target...] [ENVIRONMENT VAR=value...]): one GoogleTest program test_<name>, one ctest
# test. Built by the target `tests`.
function(glt_test name)
    if(NOT GLT_TESTS)
        return()
    endif()
    cmake_parse_arguments(TEST "" "" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
    find_package(GTest REQUIRED)
    add_executable(test_${name} EXCLUDE_FROM_ALL ${TEST_SOURCES})
    add_dependencies(tests test_${name})
    target_link_libraries(test_${name} PRIVATE glt_options ${TEST_LINKS} GTest::gmock GTest::gtest GTest::gtest_main)
    add_test(NAME ${name} COMMAND test_${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${TEST_ENVIRONMENT}" TIMEOUT 1200)
endfunction()
