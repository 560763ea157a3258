#pragma once
#include "algorithms/forms/owners.hpp"
#include "algorithms/packed_slots.hpp"
#include "base/error.hpp"
#include "matrix/tile_matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace trencadis {

/// Hands out addresses of a range one piece after the other; adds up what was handed out.
class AddressRange {
public:
    explicit AddressRange(void* begin) : begin_(reinterpret_cast<std::uintptr_t>(begin)) {}

    template <class E> E* take(Index rows, Index cols)
    {
        Index elements = 0, bytes = 0, end = 0;
        if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, Index(sizeof(E)), &bytes) ||
            __builtin_add_overflow(used_, bytes, &end) || end > largest)
            throw Error(ErrorCode::bad_argument,
                        "the matrices of this graph and their images need more than the 2^46 bytes that one process can name; "
                        "choose a smaller n, or nb");
        E* const piece = reinterpret_cast<E*>(begin_ + std::uintptr_t(used_));
        used_ = (end + 63) / 64 * 64;
        return piece;
    }
    std::size_t used() const { return std::size_t(used_); }

private:
    static constexpr Index largest = Index{1} << 46;
    std::uintptr_t begin_;
    Index used_ = 0;
};

/// Where a form is laid out: in memory, where the operands are a caller's, or as names alone, which nobody touches. A form asks
/// for its operands in the order in which the caller gives them, and for what it needs beside them; so it is written once for
/// both.
class Place {
public:
    /// A matrix or a vector of the caller's.
    struct Operand {
        const void* data;
        Index ld = 0;
    };
    /// In memory. The operands are looked at while a form is laid out.
    explicit Place(std::span<const Operand> operands) : operands_(operands), names_(nullptr) {}
    /// Names from the given address on, aligned to 64 bytes; `computed`: of memory that the tasks then compute on.
    explicit Place(void* names, bool computed = false) : in_memory_(false), computed_(computed), names_(names) {}

    /// The same place, whose matrices processes hold in tiles; those that are not laid out in tiles are cut into nb x nb. What
    /// has no tile: OwnedFlow.
    Place held_by(TileOwners owners, Index nb) const { return held_by(std::vector{owners}, nb); }
    /// Each operand by its own; those behind the last as the last.
    Place held_by(std::vector<TileOwners> owners, Index nb) const
    {
        Place place = *this;
        place.owners_ = std::move(owners);
        place.held_nb_ = nb;
        return place;
    }
    /// What was handed out of such a place.
    std::span<const HeldMatrix> held() const { return held_; }
    /// A vector that was handed out there as names.
    struct Vector {
        const void* data;
        std::size_t bytes;
        Index element; ///< bytes of one
    };
    std::span<const Vector> vectors() const { return vectors_; }

    bool in_memory() const { return in_memory_; }
    std::size_t bytes() const { return names_.used(); } ///< of all names that were handed out

    /// The next operand, a matrix in tiles mb x nb. Those that are names lie one after the other.
    template <Scalar T> TileMatrix<T> tiles(Index rows, Index cols, Index mb, Index nb)
    {
        if (in_memory_) return noted(TileMatrix<T>(whole<T>(rows, cols), mb, nb));
        const Index row_tiles = (rows + mb - 1) / mb, col_tiles = (cols + nb - 1) / nb;
        T* const data = names_.take<T>(row_tiles * mb, col_tiles * nb);
        return noted(TileMatrix<T>({data, rows, cols, mb}, mb, nb, mb * nb, mb * nb * row_tiles));
    }
    /// The next operand, a matrix column by column.
    template <Scalar T> MatrixView<T> columns(Index rows, Index cols)
    {
        const MatrixView<T> A = whole<T>(rows, cols);
        if (held_nb_) noted(TileMatrix<T>(A, held_nb_, held_nb_));
        return A;
    }
    /// The next operand, a vector.
    template <class E> E* vector(Index count)
    {
        if (in_memory_) return static_cast<E*>(const_cast<void*>(next().data));
        E* const names = names_.take<E>(count, 1);
        if (held_nb_) vectors_.push_back({names, std::size_t(count) * sizeof(E), Index(sizeof(E))});
        return names;
    }
    /// Bytes that tasks name and nobody reads; in memory they are `own`.
    char* tokens(Index count, std::vector<char>& own)
    {
        if (!in_memory_) return names_.take<char>(count, 1);
        own.resize(std::size_t(count));
        return own.data();
    }
    /// For what else a form needs beside its operands.
    ImagePlace images()
    {
        if (in_memory_) return {};
        return {.reserve = [this](std::size_t bytes) { return names_.take<char>(Index(bytes), 1); }, .computed = computed_};
    }
    /// Any names.
    template <class E> E* names(Index rows, Index cols) { return names_.take<E>(rows, cols); }

private:
    const Operand& next() { return operands_[at_++]; }
    template <Scalar T> MatrixView<T> whole(Index rows, Index cols)
    {
        if (!in_memory_) return {names_.take<T>(rows, cols), rows, cols, rows};
        const Operand& given = next();
        return {static_cast<T*>(const_cast<void*>(given.data)), rows, cols, given.ld};
    }
    template <Scalar T> TileMatrix<T> noted(TileMatrix<T> A)
    {
        if (held_nb_ == 0) return A;
        A = A.held_by(owners_[std::min(held_.size(), owners_.size() - 1)]);
        held_.push_back(A.held());
        return A;
    }

    bool in_memory_ = true, computed_ = false;
    std::span<const Operand> operands_;
    std::size_t at_ = 0;
    AddressRange names_;
    std::vector<TileOwners> owners_;
    Index held_nb_ = 0; ///< 0: of one process alone
    std::vector<HeldMatrix> held_;
    std::vector<Vector> vectors_;
};

} // namespace trencadis
