# Writes what the linker is told of a system's BLAS and LAPACK, from the names that libtrencadis_lapack.so shows: the plain ones, and for the
# libraries with 64-bit integers, that their plain names are those that end in 64_ there.
# cmake -DNM=... -DLIBRARY=... -DFOLDER=... -P Names.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Za-z0-9_]+(\n|@)" names "${symbols}")
list(TRANSFORM names REPLACE "[\n@]" "")
list(FILTER names EXCLUDE REGEX "^(scipy_|LAPACKE_)|64_?$")
foreach(name IN LISTS names)
    set(wide ${name}64_)
    string(APPEND plain "    ${name};\n")
    string(APPEND both "    ${name};\n    ${wide};\n")
    string(APPEND renamed "--defsym=${name}=${wide}\n")
endforeach()
file(WRITE ${FOLDER}/narrow.map "{\nglobal:\n${plain}local:\n    *;\n};\n")
file(WRITE ${FOLDER}/wide.map "{\nglobal:\n${both}local:\n    *;\n};\n")
file(WRITE ${FOLDER}/narrow.renamed "")
file(WRITE ${FOLDER}/wide.renamed "${renamed}")
