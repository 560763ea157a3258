#pragma once
#include <string>

namespace trencadis {

/// The file of that name beside the library or program that this code is in, or in the folder `lib` beside that one's. Empty when
/// there is none.
std::string find_module(const char* name);

/// A part of the library that is loaded when it is needed, since few programs need it and others' libraries come with it. It
/// lies beside the library, and has one function that makes what it is for.
struct Module {
    const char* file;              ///< its name
    const char* make;              ///< the function
    const char* what;              ///< begins messages: "no simulation"
    const char* library;           ///< whose it is: "SimGrid"
    const char *to_build, *to_run; ///< Debian's packages

    /// Why there is none here; empty when there is.
    std::string why_not() const;
    /// Loads it and finds its function. Its symbols stay its own, so that none of the libraries behind it is found by anybody
    /// else's look-ups. Throws Error{missing_backend}.
    void* load() const;
};

} // namespace trencadis
