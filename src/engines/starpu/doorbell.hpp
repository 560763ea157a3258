#pragma once
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <linux/futex.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace trencadis {

/// What a process of this machine sleeps on until another one has something for it: a count of rings in memory that both see.
/// The memory is the process's own and without a name in any folder; others find it through /proc and give it back when they
/// end, however they end.
class Doorbell {
public:
    /// What others need to find it: sent to them as it is.
    struct Address {
        std::uint64_t machine = 0; ///< its last start, and the numbering of processes
        std::uint64_t word = 0;    ///< in the memory, so that another file under the same number is not taken for it
        std::int64_t process = 0;
        std::int64_t file = -1;  ///< none: there is no such memory
        std::uint64_t place = 0; ///< of the word, in that process's memory
    };

    /// The calling process's own; it may be dumb, where the system has no such memory.
    Doorbell() : file_(memfd_create("trencadis-doorbell", MFD_CLOEXEC))
    {
        if (file_ >= 0 && ftruncate(file_, bytes) == 0) map(file_);
        if (!memory_) return;
        std::random_device random;
        memory_->word = (std::uint64_t(random()) << 32 | random()) | 1;
    }
    /// Another process's, dumb where it is not to be found: on another machine, or where that process lets nobody look.
    explicit Doorbell(const Address& address)
    {
        if (address.file < 0 || address.machine != this_machine()) return;
        const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
        const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0) return;
        struct stat found {};
        if (fstat(file, &found) == 0 && found.st_size == bytes) map(file);
        close(file);
        if (memory_ && memory_->word != address.word) unmap();
        is_near_ = memory_ && reads(address);
    }
    ~Doorbell()
    {
        unmap();
        if (file_ >= 0) close(file_);
    }
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    bool dumb() const { return !memory_; }
    /// Another process's, whose memory this one may read: then whole messages are copied at once.
    bool is_near() const { return is_near_; }
    /// Of the process's own.
    Address address() const
    {
        return dumb() ? Address{}
                      : Address{this_machine(), memory_->word, std::int64_t(getpid()), std::int64_t(file_),
                                reinterpret_cast<std::uintptr_t>(&memory_->word)};
    }

    void ring()
    {
        if (dumb()) return;
        memory_->rings.fetch_add(1);
        if (memory_->asleep.load() > 0) syscall(SYS_futex, &memory_->rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    std::uint32_t rings() const { return dumb() ? 0 : memory_->rings.load(); }
    /// Returns at the first ring after `heard` of them, which may have been by now, and no later than after that time.
    void sleep(std::uint32_t heard, std::chrono::nanoseconds longest)
    {
        const timespec time{longest.count() / 1'000'000'000, longest.count() % 1'000'000'000};
        if (dumb()) return (void)nanosleep(&time, nullptr);
        memory_->asleep.fetch_add(1);
        syscall(SYS_futex, &memory_->rings, FUTEX_WAIT, heard, &time, nullptr, 0); // whyever it ends: who is called looks again
        memory_->asleep.fetch_sub(1);
    }

private:
    struct Memory {
        std::uint64_t word;
        std::atomic<std::uint32_t> rings, asleep;
    };
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
    static constexpr long bytes = 4096;

    void map(int file)
    {
        void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED) memory_ = static_cast<Memory*>(at);
    }
    void unmap()
    {
        if (memory_) munmap(memory_, bytes);
        memory_ = nullptr;
    }
    static bool reads(const Address& address)
    {
        std::uint64_t word = 0;
        const iovec here{&word, sizeof word}, there{reinterpret_cast<void*>(address.place), sizeof word};
        return process_vm_readv(pid_t(address.process), &here, 1, &there, 1, 0) == sizeof word && word == address.word;
    }
    /// Processes see each other by number where this is the same.
    static std::uint64_t this_machine()
    {
        std::string start;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> start;
        struct stat numbering {};
        if (start.empty() || ::stat("/proc/self/ns/pid", &numbering) != 0) return getpid(); // nobody else's
        return std::hash<std::string>()(start) ^ (std::uint64_t(numbering.st_ino) << 1);
    }

    int file_ = -1;
    Memory* memory_ = nullptr;
    bool is_near_ = false;
};

} // namespace trencadis
