#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace trencadis::python {

// What the library says names bytes of the environment and of files as they are, and they may be no UTF-8.

/// For people to read; such bytes as \xff. Throws what Python raised, where it has no memory.
inline nanobind::object text_of(const std::string& said)
{
    nanobind::object text = nanobind::steal(PyUnicode_DecodeUTF8(said.data(), Py_ssize_t(said.size()), "backslashreplace"));
    if (!text.is_valid()) throw nanobind::python_error();
    return text;
}

/// A path or a part of one, as os.fsdecode has it: Python finds the file by it.
inline nanobind::object path_of(const std::string& path)
{
    nanobind::object text = nanobind::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), Py_ssize_t(path.size())));
    if (!text.is_valid()) throw nanobind::python_error();
    return text;
}

} // namespace trencadis::python
