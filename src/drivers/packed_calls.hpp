#pragma once
#include "algorithms/packed_product.hpp"
#include "algorithms/packed_trsm.hpp"
#include "drivers/laid_out.hpp"

#include <initializer_list>
#include <optional>

/// How a routine runs on packed tiles, our own kernels' form of the tile algorithms.
namespace trencadis {

/// Does this call use packed tiles? See form_for.
inline bool runs_packed(const Crew& crew, forms::Forms all, const RoutineOptions& options)
{
    return !form_for(crew, all, options).own.empty();
}

/// op(A) with a structure, from the triangle `uplo` in memory.
template <Scalar T>
blas::Operand<T> structured(blas::Structure structure, Uplo uplo, Diag diag, const T* A, Index lda, Op op = Op::none)
{
    blas::Operand<T> operand = blas::general(A, lda);
    operand.structure = structure;
    operand.uplo = uplo;
    operand.diag = diag;
    return operand.op(op);
}
inline blas::Part part_of(Uplo uplo) { return uplo == Uplo::lower ? blas::Part::lower : blas::Part::upper; }

/// Runs a product of general operands: by memory nodes where the caller asks for the variant 'nodes', or leaves the choice, there
/// are several and the size is above the threshold of nodes_pay; else as run_packed. Counts what each node reads and writes where
/// the crew does. Throws Error{bad_argument} where tasks of several nodes cannot be kept to them.
template <Scalar T> bool run_product(Crew& crew, const RoutineOptions& options, const PackedProduct<T>& product);

/// Runs products of the same shape one after the other. False, and nothing is done, where there is no memory for the images and
/// the caller left the choice of the variant: those that work in place need none.
template <Scalar T> bool run_packed(Crew& crew, const RoutineOptions& options, std::initializer_list<PackedProduct<T>> products);
template <Scalar T> bool run_packed(Crew& crew, const RoutineOptions& options, const PackedSystem<T>& system);

/// Makes images from `arguments`, or leaves `images` empty as run_packed says.
template <class Images, class... Arguments>
void make_images(std::optional<Images>& images, const RoutineOptions& options, const Arguments&... arguments)
{
    try {
        images.emplace(arguments...);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory || !options.variant.empty()) throw;
    }
}

} // namespace trencadis
