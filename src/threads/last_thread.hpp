#pragma once

namespace trencadis {

/// A process ends, as by exit(0), when the last of its threads has ended. That is the program's affair: threads of ours that
/// wait for work must not keep it. The C library counts them as anybody's; so where the program's first thread leaves by
/// pthread_exit (while it is there the process goes on, whoever else is), a thread in its place waits until none but ours are
/// left, and ends the process then.

/// The calling thread is ours, until the end of its scope. What it computes for the program does not keep the process, either.
class OurThread {
public:
    OurThread();
    ~OurThread();
    OurThread(const OurThread&) = delete;
    OurThread& operator=(const OurThread&) = delete;
};

/// To be called by a thread of the program before it starts threads of ours: its end is noticed if it is the first thread.
void notice_the_end_of_the_first_thread();

} // namespace trencadis
