#pragma once

#include <pthread.h>

namespace trencadis {

/// What a thread's values end with. By a key of POSIX threads: `thread_local` objects with destructors are registered under the
/// loader's lock, which is held while a library is opened, whose initialization may call us and wait for threads of ours.
class ThreadEnd {
public:
    explicit ThreadEnd(void (*end)(void*)) : has_key_(pthread_key_create(&key_, end) == 0) {}
    /// For this thread; where the process has no keys left, what it has stays.
    void is_for(void* value) const
    {
        if (has_key_) pthread_setspecific(key_, value);
    }

private:
    pthread_key_t key_{};
    bool has_key_;
};

template <class T, class Tag> struct OfThread {
    static inline thread_local constinit T* mine = nullptr; ///< a plain pointer can be read at any time
    static void end(void*)
    {
        delete mine;
        mine = nullptr;
    }
    static inline const ThreadEnd at_end{end}; ///< the library is never unloaded
};

/// The calling thread's own T, one for each `Tag`; destroyed with the thread, after its thread-local objects. What else ends with
/// the thread may call us still: who asks then gets a new one, which ends with the thread, too. The main thread's stays where it
/// does not end before the process.
template <class T, class Tag> T& of_thread()
{
    using Its = OfThread<T, Tag>;
    if (!Its::mine) [[unlikely]] {
        Its::mine = new T;
        Its::at_end.is_for(Its::mine);
    }
    return *Its::mine;
}

} // namespace trencadis
