#pragma once

namespace trencadis {

/// The calling thread's own T, one for each `Tag`; destroyed with the thread. The main thread's objects are destroyed before
/// the program's atexit handlers and static objects run, which may call us still: who asks then gets a new one, and that stays.
template <class T, class Tag> T& of_thread()
{
    thread_local constinit T* mine = nullptr; // a plain pointer can be read at any time
    if (mine) [[likely]]
        return *mine;
    struct AtEnd {
        ~AtEnd()
        {
            delete mine;
            mine = nullptr;
        }
    };
    thread_local const AtEnd at_end;
    static_cast<void>(at_end);
    mine = new T;
    return *mine;
}

} // namespace trencadis
