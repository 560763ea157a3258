#pragma once
#include "machine/machine.hpp"
#include "session/session.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace trencadis::testing {

/// A description of a machine with so many memory nodes, in a file that goes away with the object; `cores`: on each node.
class DescribedNodes {
public:
    explicit DescribedNodes(const std::vector<int>& cores)
    {
        Machine machine;
        machine.name = "nodes";
        machine.kinds = {{"core"}};
        for (std::size_t node = 0; node < cores.size(); ++node) {
            machine.nodes.push_back({"node" + std::to_string(node), Bytes(1 << 30)});
            for (int i = 0; i < cores[node]; ++i)
                machine.cores.push_back({static_cast<int>(machine.cores.size()), 0, static_cast<int>(node)});
        }
        static int made = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("trencadis-nodes-" + std::to_string(getpid()) + "-" + std::to_string(made++) + ".toml");
        std::ofstream(path_) << machine_to_toml(machine);
    }
    ~DescribedNodes()
    {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    DescribedNodes(const DescribedNodes&) = delete;
    DescribedNodes& operator=(const DescribedNodes&) = delete;

    SessionOptions options(const char* scheduler = "mosaic", const char* pages = "first-touch") const
    {
        SessionOptions options;
        options.engine = "native";
        options.scheduler = scheduler;
        options.kernels = "native";
        options.machine = path_.string();
        options.pages = pages;
        return options;
    }

private:
    std::filesystem::path path_;
};

} // namespace trencadis::testing
