// [[sources]] of a machine description: where its figures come from. They say it to readers and reports; no run depends on them.
#include "machine/describe_parts.hpp"

namespace trencadis {

void read_sources(TomlTable& root)
{
    static const std::vector<std::string> classes{
        "published kernel time", "published", "datasheet", "measured elsewhere", "derived", "estimated", "adjusted to a result"};
    const std::vector<std::string> figures = root.figures();
    std::vector<std::string> kernels;
    for (TomlTable& table : root.tables("kernels")) kernels.push_back(table.text("kernel"));
    for (TomlTable& table : root.tables("sources")) {
        const std::string& given = classes[table.one_of("class", classes, "class of figures")];
        table.listed("figures", figures, "figure of the file");
        if (table.has("kernels")) table.listed("kernels", kernels, "kernel of the file");
        const bool adjusted = given == classes.back();
        if (adjusted) table.text("result");
        else if (table.has("result"))
            table.complain("result", fmt::format("{} has a result but is of the class '{}'; only '{}' has one", table.what(),
                                                 given, classes.back()));
        table.finish();
    }
}

} // namespace trencadis
