#include "base/error.hpp"
#include "base/float_modes.hpp"
#include "base/without_signals.hpp"
#include "engines/starpu/priority_rank.hpp"
#include "engines/starpu/private_environment.hpp"
#include "engines/starpu/starpu_runtime.hpp"
#include "graph/codelet_name.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <sched.h>
#include <starpu.h>
#include <unordered_map>

namespace trencadis {
namespace {

/// A codelet of ours as StarPU sees it: which one it is tells each task for itself, so that this only names it and its model.
struct Kind {
    std::string name, symbol;
    starpu_perfmodel model{};
    starpu_codelet codelet{};

    explicit Kind(const Codelet& ours) : name(ours.name), symbol(unique_name(ours))
    {
        if (ours.precision) symbol += std::string("-") + ours.precision;
        codelet.cpu_funcs[0] = [](void** places, void* ticket) {
            static_cast<StarpuTicket*>(ticket)->run(starpu_worker_get_id(), places);
        };
        codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
        codelet.name = name.c_str();
        model.type = STARPU_HISTORY_BASED;
        model.symbol = symbol.c_str();
        if (ours.flops) codelet.model = &model; // what has no flop count is not timed for estimates
    }
    Kind(const Kind&) = delete;
    Kind& operator=(const Kind&) = delete;
};

starpu_data_access_mode mode_of(AccessMode mode)
{
    switch (mode) {
    case AccessMode::read: return STARPU_R;
    case AccessMode::write: return STARPU_W;
    case AccessMode::commute: return starpu_data_access_mode(STARPU_RW | STARPU_COMMUTE);
    case AccessMode::concurrent_write:
    case AccessMode::reduce: return STARPU_R; // there is one memory, which all of them see
    case AccessMode::readwrite: break;
    }
    return STARPU_RW;
}

/// The policy that ends the process unless the program itself has told it which priorities there are.
constexpr const char* needs_a_program = "heteroprio";

class Behind final : public StarpuRuntime {
public:
    StarpuCaps caps() const override
    {
        int major = 0, minor = 0, release = 0;
        starpu_get_version(&major, &minor, &release);
        return {std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release), STARPU_MAXCPUS,
                STARPU_NMAXBUFS, STARPU_MAXNUMANODES};
    }

    std::vector<std::string> policies() const override
    {
        std::vector<std::string> names;
        for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy; ++policy)
            if (const std::string name = (*policy)->policy_name; name != needs_a_program) names.push_back(name);
        return names;
    }

    void start(const StarpuSettings& settings) override
    {
        make_folder(settings.folder);
        const auto workers = static_cast<int>(settings.cores.size());
        {
            const StandardFloatModes modes; // threads inherit them
            const WithoutSignals signals;
            const PrivateEnvironment environment(variables(settings));
            starpu_conf conf;
            starpu_conf_init(&conf);
            conf.precedence_over_environment_variables = 1;
            conf.ncpus = workers;
            conf.ncuda = conf.nopencl = conf.nmic = conf.nmpi_ms = 0;
            conf.catch_signals = 0;
            if (!settings.policy.empty()) conf.sched_policy_name = settings.policy.c_str();
            if (const int failure = starpu_init(&conf))
                throw Error(ErrorCode::environment, "StarPU does not start (" + std::to_string(failure) + ")");
        }
        if (const int given = int(starpu_cpu_worker_get_count()); given != workers) {
            starpu_shutdown();
            remove_own_folder();
            throw Error(ErrorCode::environment,
                        "StarPU gives " + std::to_string(given) + " workers instead of " + std::to_string(workers));
        }
        starpu_malloc_set_align(64); // of data that have their memory from it
        sit(settings.cores);
        starpu_pause();
    }

    void stop() override
    {
        starpu_task_wait_for_all();
        starpu_shutdown();
        kinds_.clear(); // which shutting down has written
        kept_.clear();
        remove_own_folder();
    }

    void pause() override { starpu_pause(); }
    void resume() override { starpu_resume(); }

    Handle enter(const Datum& datum) override
    {
        starpu_data_handle_t handle = nullptr;
        const bool nowhere = datum.is_name();
        const int home = nowhere ? -1 : STARPU_MAIN_RAM;
        const auto address = nowhere ? 0 : reinterpret_cast<std::uintptr_t>(datum.address);
        const Bytes bytes = nowhere ? std::max<Bytes>(datum.bytes(), 1) : datum.bytes(); // what is sent has a byte
        if (datum.element && datum.rows && datum.cols)
            starpu_matrix_data_register(&handle, home, address, std::uint32_t(nowhere ? datum.rows : datum.ld),
                                        std::uint32_t(datum.rows), std::uint32_t(datum.cols), std::size_t(datum.element));
        else if (bytes > 0) starpu_variable_data_register(&handle, home, address, std::size_t(bytes));
        else starpu_void_data_register(&handle); // it is there for the order alone
        if (!handle) throw std::bad_alloc();
        return handle;
    }
    void leave(Handle handle) override { starpu_data_unregister_no_coherency(handle); }
    void leave_later(Handle handle) override { starpu_data_unregister_submit(handle); }

    Operand place(void* const* places, std::size_t number) const override
    {
        void* const place = places[number];
        const auto kind = *static_cast<const starpu_data_interface_id*>(place); // the first member of each
        if (kind == STARPU_MATRIX_INTERFACE_ID)
            return {reinterpret_cast<void*>(STARPU_MATRIX_GET_PTR(place)), Index(STARPU_MATRIX_GET_LD(place)),
                    std::int32_t(STARPU_MATRIX_GET_NX(place)), std::int32_t(STARPU_MATRIX_GET_NY(place))};
        return {reinterpret_cast<void*>(STARPU_VARIABLE_GET_PTR(place)), Index(STARPU_VARIABLE_GET_ELEMSIZE(place))};
    }

    void submit(const Submission& submission) override
    {
        Kind& kind = kind_of(submission.codelet);
        starpu_task* const task = starpu_task_create();
        if (!task) throw std::bad_alloc();
        task->cl = &kind.codelet;
        task->name = submission.label;
        task->cl_arg = submission.ticket;
        if (submission.says_ready) {
            task->prologue_callback_func = [](void* ticket) { static_cast<StarpuTicket*>(ticket)->ready(); };
            task->prologue_callback_arg = submission.ticket;
        }
        task->priority = priority_rank(submission.priority);
        task->flops = submission.flops;
        task->nbuffers = static_cast<int>(submission.uses.size());
        // Lists of its own are freed with the task.
        if (task->nbuffers > STARPU_NMAXBUFS) {
            task->dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(submission.uses.size() * sizeof(Handle)));
            task->dyn_modes =
                static_cast<starpu_data_access_mode*>(std::malloc(submission.uses.size() * sizeof(starpu_data_access_mode)));
            if (!task->dyn_handles || !task->dyn_modes) starpu_task_destroy(task), throw std::bad_alloc();
        }
        for (std::size_t i = 0; i < submission.uses.size(); ++i) {
            (task->dyn_handles ? task->dyn_handles : task->handles)[i] = submission.uses[i].handle;
            (task->dyn_modes ? task->dyn_modes : task->modes)[i] = mode_of(submission.uses[i].mode);
        }
        if (const int failure = starpu_task_submit(task)) {
            task->destroy = 0;
            starpu_task_destroy(task);
            throw Error(ErrorCode::environment,
                        "StarPU refuses task '" + std::string(submission.label) + "' (" + std::to_string(failure) + ")");
        }
    }

private:
    /// StarPU ends the process when it cannot make its folders, so they are made before. Without one that is given, or that can
    /// be written, it has one of its own until it stops: it wants to keep what it finds of the machine.
    void make_folder(const std::string& wanted)
    {
        std::error_code failure;
        folder_ = wanted;
        if (!wanted.empty()) std::filesystem::create_directories(wanted + "/.starpu", failure);
        if (!wanted.empty() && !failure && access((wanted + "/.starpu").c_str(), R_OK | W_OK | X_OK) == 0) return;
        std::string own = std::filesystem::temp_directory_path(failure).string() + "/trencadis-starpu-XXXXXX";
        if (!mkdtemp(own.data())) throw Error(ErrorCode::environment, "StarPU needs a folder, and none can be made as " + own);
        folder_ = own_folder_ = own;
    }
    void remove_own_folder()
    {
        std::error_code ignored;
        if (!own_folder_.empty()) std::filesystem::remove_all(own_folder_, ignored);
        own_folder_.clear();
    }

    /// What StarPU has no other setting for.
    std::vector<std::string> variables(const StarpuSettings& settings) const
    {
        return {"STARPU_SILENT=1", "STARPU_HOME=" + folder_, "STARPU_PERF_MODEL_DIR=" + folder_ + "/.starpu/models/",
                "STARPU_CATCH_SIGNALS=0",
                "STARPU_WORKERS_NOBIND=1", // we seat them, by the system's numbers
                "STARPU_USE_NUMA=0", std::string("STARPU_PERF_MODEL_HOMOGENEOUS_CPU=") + (settings.one_kind ? "1" : "0"),
                // Discovery would load graphics drivers, and with them handlers of signals.
                "HWLOC_COMPONENTS=-opencl,-gl,-cuda,-nvml,-rsmi,-levelzero"};
    }

    static void sit(const std::vector<int>& cores)
    {
        starpu_execute_on_each_worker(
            [](void* list) {
                const int core = (*static_cast<const std::vector<int>*>(list))[std::size_t(starpu_worker_get_id())];
                if (core < 0) return;
                cpu_set_t set;
                CPU_ZERO(&set);
                CPU_SET(core, &set);
                pthread_setaffinity_np(pthread_self(), sizeof set, &set); // where not: it runs where it may
            },
            const_cast<std::vector<int>*>(&cores), STARPU_CPU);
    }

    /// Codelets may come from anywhere, so a place in memory may hold another one by now.
    Kind& kind_of(const Codelet& ours)
    {
        const std::lock_guard lock(mutex_);
        std::unique_ptr<Kind>& kind = kinds_[&ours];
        if (!kind || kind->name != ours.name) {
            if (kind) kept_.push_back(std::move(kind)); // tasks may be left that name it
            kind = std::make_unique<Kind>(ours);
        }
        return *kind;
    }

    std::mutex mutex_; ///< several threads may submit
    std::unordered_map<const Codelet*, std::unique_ptr<Kind>> kinds_;
    std::vector<std::unique_ptr<Kind>> kept_;
    std::string folder_, own_folder_;
};

} // namespace
} // namespace trencadis

extern "C" __attribute__((visibility("default"))) trencadis::StarpuRuntime* trc_starpu_v2()
{
    static auto* const runtime = new trencadis::Behind; // for good: its threads may outlive static objects
    return runtime;
}
