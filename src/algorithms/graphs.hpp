#pragma once
#include "algorithms/forms/form.hpp"
#include "graph/flow.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

/// Task graphs of forms by name, for engines that account for the time of kernels without running them. What the tasks name is a
/// range of addresses that is never touched. All functions throw Error{bad_argument} for what they do not know.
namespace trencadis {

/// The problem: square matrices of order n in tiles nb x nb, contiguous one after the other in the range; packed forms have them
/// column by column, and their images behind.
struct GraphShape {
    Index n = 0;
    Index nb = 0;         ///< of the tall form the rows of a block
    Index m = 0;          ///< rows, of routines of any matrix; 0: n, and in the tall form as many as geqrf asks of a tall matrix
    Index inner = 0;      ///< inner blocks of LU and QR kernels, tiles of a nested Cholesky; 0: as default_inner says
    Index nrhs = 1;       ///< right-hand sides of potrs and posv
    char precision = 'd'; ///< s, d, c, z
    int workers = 0;      ///< panels of LU, and products without nb, are cut as a call on so many cuts them; 0: for any number
    Index k = 0;          ///< depth of a product; 0: n
};

/// potrf potrs posv gemm syrk trsm getrf geqrf and others, and tasks: empty kernels on the Cholesky graph of n tile rows.
std::vector<std::string_view> graph_routines();
/// The forms of a routine that have a graph. Where none is named, submit_graph means the first and a simulation that of
/// default_graph_form.
std::vector<std::string_view> graph_variants(std::string_view routine);
/// One of them by name; none named: the first.
const Form& graph_form(std::string_view routine, std::string_view variant);
/// The form that users run where they ask for none: the first, but where devices take part, which do not compute on packed
/// images.
const Form& default_graph_form(std::string_view routine, bool devices);
/// The tile size that goes with a form where none is asked for.
Index default_graph_tile(const Form& form, Index n, std::size_t element_bytes, int workers);
/// The rows of a form for tall matrices where none are asked for; 0 of the others, which are square.
Index default_graph_rows(const Form& form, Index n);
/// Names of the codelets whose times a machine must know. Those that only submit tasks are not among them.
std::vector<std::string_view> graph_kernels(std::string_view routine, std::string_view variant, char precision = 'd');
/// Those of all graphs, each once.
std::vector<std::string_view> all_graph_kernels();
/// Inner block or tile size: 32 where a form has no rule of its own, PLASMA's default; at most nb.
Index default_inner(const Form& form, Index nb);

/// What a form is laid out for where it has that shape: matrices of a product are square, factors 1, nothing is transposed.
Problem graph_problem(std::string_view routine, const Form& form, const GraphShape& shape);

/// Where Form::lay has the layouts of a precision: s, d, c or z.
int graph_precision(char letter);

/// Operations of the routine, by which its speed is told; a form may do more.
Flops routine_flops(std::string_view routine, const GraphShape& shape);

/// Size of the range of addresses that the graph names.
std::size_t graph_bytes(std::string_view routine, std::string_view variant, const GraphShape& shape);

/// The form that users run where hosts have the matrix and ask for none: the first without images whose tasks each write
/// what one host has, else the first without images. None: there is no such form.
const Form* default_form_of_hosts(std::string_view routine);

/// Submits the graph over the range that begins at `memory` (aligned to 64 bytes). An empty variant means the first. Throws
/// Error{bad_argument} when the flow's engine computes: it would touch the range.
void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory);
/// The same with an owner for each datum. Throws Error{bad_argument} for a form whose tasks name several tiles as one datum,
/// since these have several owners.
void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory,
                  const TileOwners& owners);

} // namespace trencadis
