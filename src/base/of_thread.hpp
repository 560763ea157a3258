#pragma once

#include <cxxabi.h>

extern "C" __attribute__((visibility("hidden"))) void* __dso_handle; // of the library this is linked into (Itanium C++ ABI 3.3.5)

namespace trencadis {

/// The calling thread's own T, one for each `Tag`; destroyed with the thread. Thread-local objects made before it are destroyed
/// after it and may call us still: who asks then gets a new one, which ends with the thread, too. The main thread's are destroyed
/// before the program's atexit handlers and static objects run: what those ask for stays.
template <class T, class Tag> T& of_thread()
{
    thread_local constinit T* mine = nullptr; // a plain pointer can be read at any time
    if (mine) [[likely]]
        return *mine;
    mine = new T;
    // A thread_local object would be registered once; a second T needs a second turn.
    abi::__cxa_thread_atexit(
        [](void*) {
            delete mine;
            mine = nullptr;
        },
        nullptr, &__dso_handle);
    return *mine;
}

} // namespace trencadis
