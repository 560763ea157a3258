#include "engines/openmp/holders.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"

#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace trencadis::openmp {
namespace {

class Thread;

/// Those of one runtime that have nothing to do. For good, as they are.
struct Idle {
    std::mutex mutex;
    std::vector<Thread*> threads;
};
constinit Lasting<Idle> idle[2];

class Thread final : public Holder {
public:
    explicit Thread(Idle& home) : home_(home)
    {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's threads
        try {
            std::thread([this] { live(); }).detach();
        } catch (const std::system_error& error) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw Error(ErrorCode::environment, std::string("no thread for a parallel region: ") + error.what());
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    void begin(const std::function<void()>& work) override
    {
        const std::lock_guard lock(mutex_);
        work_ = work;
        changed_.notify_one();
    }

private:
    void live()
    {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return work_ != nullptr; });
            const std::function<void()> work = std::exchange(work_, nullptr);
            lock.unlock();
            work();
            {
                const std::lock_guard free(home_.mutex);
                home_.threads.push_back(this); // there is room, see `take`
            }
            lock.lock();
        }
    }
    Idle& home_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> work_;
};

} // namespace

Holder& Holder::take(const Kind& kind)
{
    static std::size_t made[2]; // under the mutex of each
    Idle& home = idle[kind.entered_by_kmpc].get();
    const std::lock_guard lock(home.mutex);
    if (home.threads.empty()) {
        std::size_t& count = made[kind.entered_by_kmpc];
        home.threads.reserve(count + 1);
        auto thread = std::make_unique<Thread>(home);
        ++count;
        return *thread.release();
    }
    Thread* const thread = home.threads.back();
    home.threads.pop_back();
    return *thread;
}

} // namespace trencadis::openmp
