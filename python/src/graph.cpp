#include "algorithms/graph_listing.hpp"

#include "bind.hpp"
#include "call.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

constexpr std::size_t element_bytes[] = {4, 8, 8, 16}; // s, d, c, z

nb::dict task_row(const ListedTask& task)
{
    nb::list data;
    for (const ListedUse& use : task.uses) {
        nb::dict one;
        one["mode"] = std::string(name_of(use.mode));
        one["name"] = use.datum;
        data.append(one);
    }
    nb::dict row;
    row["kernel"] = task.kernel;
    row["variant"] = task.variant;
    row["flops"] = task.flops;
    row["inside"] = task.inside < 0 ? nb::none() : nb::cast(task.inside);
    row["data"] = data;
    row["after"] = nb::cast(task.after);
    return row;
}

nb::dict bind_list_graph(const std::string& routine, const std::string& variant, Index n, Index m, Index tile, Index inner,
                         const std::string& precision, std::int64_t most)
{
    GraphShape shape{.n = n, .nb = tile, .m = m, .inner = inner, .precision = precision.size() == 1 ? precision[0] : '?'};
    std::string_view form_name;
    const GraphListing listing = compute([&] {
        const Form& form = graph_form(routine, variant);
        form_name = form.name;
        constexpr int some_workers = 2; // one has no use for tiles
        if (shape.nb == 0) shape.nb = default_graph_tile(form, n, element_bytes[graph_precision(shape.precision)], some_workers);
        if (shape.m == 0) shape.m = default_graph_rows(form, n);
        return list_graph(routine, form.name, shape, most);
    });
    nb::list tasks;
    for (const ListedTask& task : listing.tasks) tasks.append(task_row(task));
    nb::dict graph;
    graph["routine"] = routine;
    graph["variant"] = std::string(form_name);
    graph["n"] = shape.n;
    graph["m"] = shape.m ? nb::cast(shape.m) : nb::none();
    graph["nb"] = shape.nb;
    graph["precision"] = precision;
    graph["depth"] = listing.depth;
    graph["width"] = listing.width;
    graph["tasks"] = tasks;
    return graph;
}

} // namespace

void bind_graph(nb::module_& m)
{
    m.def("list_graph", &bind_list_graph, nb::kw_only(), "routine"_a, "variant"_a = "", "n"_a, "m"_a = 0, "nb"_a = 0,
          "inner"_a = 0, "precision"_a = "d", "most"_a);
}

} // namespace trencadis::python
