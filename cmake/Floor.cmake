# trc_floor(<name> [SOURCES file...|all] [USES floor...] [LINKS target...] [PUBLIC_LINKS target...])
#
# SOURCES all: every .cpp of the folder and of the folders in it but tests, beside what else is named. One static library
# trc_<name> for one floor of the house (see scripts/layers.toml for who may use whom). USES names floors below; LINKS are outside
# libraries that only the sources see. All `*_test.cpp` of the folder become one GoogleTest program test_<name>, which links this
# floor and what it uses, nothing above: a test that needs more is in the wrong place.
function(trc_floor name)
    cmake_parse_arguments(FLOOR "" "" "SOURCES;USES;LINKS;PUBLIC_LINKS" ${ARGN})
    set(target trc_${name})
    if("all" IN_LIST FLOOR_SOURCES)
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
        list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
        list(REMOVE_ITEM FLOOR_SOURCES all)
        list(APPEND FLOOR_SOURCES ${sources})
        list(REMOVE_DUPLICATES FLOOR_SOURCES)
    endif()
    if(FLOOR_SOURCES)
        add_library(${target} STATIC ${FLOOR_SOURCES})
        trc_unity(${target} ${FLOOR_SOURCES})
        set(scope PUBLIC)
        target_link_libraries(${target} PRIVATE trc_options)
        if(FLOOR_LINKS)
            target_link_libraries(${target} PRIVATE ${FLOOR_LINKS})
        endif()
    else()
        add_library(${target} INTERFACE) # headers only
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope}
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    foreach(used IN LISTS FLOOR_USES)
        if(NOT TARGET trc_${used})
            message(FATAL_ERROR "floor ${name} uses ${used}, which is not below it")
        endif()
        target_link_libraries(${target} ${scope} trc_${used})
    endforeach()
    if(FLOOR_PUBLIC_LINKS)
        target_link_libraries(${target} ${scope} ${FLOOR_PUBLIC_LINKS})
    endif()
    set_property(GLOBAL APPEND PROPERTY TRC_FLOORS ${target})

    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*_test.cpp)
    if(tests)
        trc_test(${name} SOURCES ${tests} LINKS ${target} ${FLOOR_LINKS})
    endif()
endfunction()

# These say nothing of time and keep to one core, so that scripts/unit_tests.sh may run one beside another: the label `calm`. All
# others have the machine for themselves.
set(TRC_CALM_TESTS graph memory scheduling matrix blas estimates kernels algorithms routines simulation)
# What takes longest begins first where several programs run at once: under the address sanitizer as long as three others.
set(TRC_LONGEST_TEST routines)
# In a sanitizer's build these run with the micro-kernels that the sanitizer sees (src/blas/CMakeLists.txt).
set(TRC_NUMERICS blas estimates kernels algorithms)

# trc_test(<name> SOURCES file... [LINKS target...] [ENVIRONMENT VAR=value...]): one GoogleTest program, one ctest test.
# Built by the target `tests`, not by default: users of `make build` do not wait for tests.
function(trc_test name)
    if(NOT TRC_TESTS)
        return()
    endif()
    cmake_parse_arguments(TEST "" "" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
    find_package(GTest REQUIRED)
    add_executable(test_${name} EXCLUDE_FROM_ALL ${TEST_SOURCES})
    add_dependencies(tests test_${name})
    trc_test_options(test_${name})
    trc_unity(test_${name} ${TEST_SOURCES})
    if(NOT "${TEST_SOURCES}" MATCHES "\\.c(;|$)|TARGET_OBJECTS")
        trc_precompiled_tests(test_${name}) # of C++ alone
    endif()
    target_link_libraries(test_${name} PRIVATE ${TEST_LINKS} GTest::gtest_main)
    if(TRC_SANITIZE AND name IN_LIST TRC_NUMERICS)
        list(APPEND TEST_ENVIRONMENT TRENCADIS_INSTRUCTION_SET=generic)
    endif()
    add_test(NAME ${name} COMMAND test_${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "TRENCADIS_SOURCE_DIR=${PROJECT_SOURCE_DIR};${TEST_ENVIRONMENT}" TIMEOUT 1200)
    if(name STREQUAL TRC_LONGEST_TEST)
        set_tests_properties(${name} PROPERTIES COST 1000)
    endif()
    if(name IN_LIST TRC_CALM_TESTS)
        set_tests_properties(${name} PROPERTIES LABELS calm)
    endif()
endfunction()
