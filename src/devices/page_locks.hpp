#pragma once
#include "devices/device.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace trencadis::devices {

/// Memory of callers that is page-locked for devices which have that in common, for as long as anybody needs it. Who asks gets
/// a hold; holds may overlap, in memory or only in pages.
///
/// What is locked are pieces: whole pages, no two pieces share one, and a piece is locked once, when it comes, and unlocked once,
/// as it was locked, when the last hold on it goes. So a hold never sees its pages unlocked by another, and what is in no piece
/// is not locked by us. A hold has all it asked for, or nothing: a failure lets go what came
/// before it. Any thread; only `hold`, and the end of the last hold on a piece, wait for the driver.
///
/// Lists of one process that say they have something in common, as those of two sessions with the same driver, see each other's
/// pieces, for as long as a copy takes: whoever is last on a piece has it unlocked by the list whose it is.
class PageLocks {
public:
    struct Driver {
        std::function<Status(void* memory, std::size_t bytes)> lock;
        std::function<Status(void* memory)> unlock;
    };
    /// `common`: of lists that say the same; null: of none.
    explicit PageLocks(Driver driver, const void* common = nullptr);
    ~PageLocks(); ///< no hold is left but by copies of others, whose end it waits for
    PageLocks(const PageLocks&) = delete;
    PageLocks& operator=(const PageLocks&) = delete;

    class Hold {
    public:
        Hold() = default;
        Hold(Hold&& other) noexcept : locks_(std::exchange(other.locks_, nullptr)), pieces_(std::move(other.pieces_)) {}
        Hold& operator=(Hold&& other) noexcept
        {
            std::swap(locks_, other.locks_);
            std::swap(pieces_, other.pieces_);
            return *this;
        }
        ~Hold() { let_go(); }
        explicit operator bool() const { return locks_; }
        void let_go();

    private:
        friend class PageLocks;
        PageLocks* locks_ = nullptr;
        std::vector<std::uintptr_t> pieces_;
    };

    /// Locks what of these bytes is not locked yet. Not ok: nothing is held.
    Status hold(const void* memory, std::size_t bytes, Hold& hold);
    /// A hold where they lie in one piece, of this list or of another one with as much in common, as one copy of a driver's wants
    /// it; otherwise an empty one. For as long as the copy takes. Calls no driver.
    Hold hold_if_locked(const void* memory, std::size_t bytes);
    std::size_t bytes() const; ///< of all pieces

private:
    struct Piece {
        std::size_t bytes;
        int holds;
    };
    using Pieces = std::map<std::uintptr_t, Piece>;
    struct Range {
        std::uintptr_t begin, end;
    };
    Pieces::iterator first_behind(std::uintptr_t address);
    std::vector<Range> gaps_in(Range range);
    Hold hold_here(const void* memory, std::size_t bytes);
    void let_go(std::uintptr_t piece);
    void drop(Pieces::iterator piece);
    struct Lists;
    static Lists& lists_here();

    const Driver driver_;
    const void* const common_;
    Lists* const lists_;       ///< in which it is; null: in none
    std::mutex changing_;      ///< before `mutex_`: while pieces come and go, which may take long
    mutable std::mutex mutex_; ///< of what follows
    Pieces pieces_;            ///< by where they begin
    std::condition_variable none_;
};

} // namespace trencadis::devices
