#pragma once
#include "graph/flow.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

/// Task graphs by name, for engines that account for the time of kernels without running them. What the tasks name is a
/// range of addresses that is never touched. All functions throw Error{bad_argument} for what they do not know.
namespace trencadis {

/// The problem: square matrices of order n in tiles nb x nb, contiguous one after the other in the range; packed forms have them column by
/// column, and their images behind.
struct GraphShape {
    Index n = 0;
    Index nb = 0;         ///< of the tall form the rows of a block
    Index m = 0;          ///< rows, of the tall form alone; 0: as many as geqrf asks of a matrix that it takes for tall
    Index inner = 0;      ///< inner blocks of LU and QR kernels, tiles of a nested Cholesky; 0: as default_inner says
    Index nrhs = 1;       ///< right-hand sides of potrs and posv
    char precision = 'd'; ///< s, d, c, z
};

/// potrf potrs posv gemm syrk trsm getrf geqrf, and tasks: empty kernels on the Cholesky graph of n tile rows.
std::vector<std::string_view> graph_routines();
/// The forms of a routine. Where none is named, submit_graph means the first and a simulation that of default_graph_variant.
std::vector<std::string_view> graph_variants(std::string_view routine);
/// The form that users run where they ask for none: the first, but where devices take part, which do not compute on packed images.
std::string_view default_graph_variant(std::string_view routine, bool devices);
/// Does the form work on images that cores make for themselves, or by whole blocks in their caches? Devices take no part in it.
bool packs_images(std::string_view variant);
/// The tile size that goes with a form where none is asked for.
Index default_graph_tile(std::string_view routine, std::string_view variant, Index n, std::size_t element_bytes, int workers);
/// The rows of the tall form where none are asked for; 0 of the others, which are square.
Index default_graph_rows(std::string_view variant, Index n);
/// Names of the codelets whose times a machine must know. Those that only submit tasks are not among them.
std::vector<std::string_view> graph_kernels(std::string_view routine, std::string_view variant, char precision = 'd');
/// Those of all graphs, each once.
std::vector<std::string_view> all_graph_kernels();
/// Inner block or tile size: 32 for LU and QR, PLASMA's default; for two-level Cholesky as nested_cholesky_tile; at most nb.
Index default_inner(std::string_view routine, Index nb);

/// Operations of the routine, by which its speed is told; a form may do more.
Flops routine_flops(std::string_view routine, const GraphShape& shape);

/// Size of the range of addresses that the graph names.
std::size_t graph_bytes(std::string_view routine, std::string_view variant, const GraphShape& shape);

/// Submits the graph over the range that begins at `memory` (aligned to 64 bytes). An
/// empty variant means the first. Throws Error{bad_argument} when the flow's engine computes: it would touch the range.
void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory);

} // namespace trencadis
