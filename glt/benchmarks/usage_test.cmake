# cmake -D PROGRAM=... -D ARGUMENTS="a b" -P usage_test.cmake: wrong arguments end in exit code 2 and one line on standard error.
separate_arguments(ARGUMENTS)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE error)
string(REGEX MATCHALL "\n" ends "${error}")
list(LENGTH ends lines)
if(NOT code EQUAL 2 OR NOT lines EQUAL 1 OR NOT out STREQUAL "")
    message(FATAL_ERROR "exit code ${code}, ${lines} lines on standard error: ${error}; standard output: ${out}")
endif()
