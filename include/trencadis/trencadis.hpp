#pragma once
/// trencadis for C++: everything a program includes.
///
///     trencadis::Session session; // workers, scheduler, kernels
///     trencadis::posv(session, trencadis::Uplo::lower, n, 1, A, lda, b, ldb);
///
///     trencadis::DataFlow flow(session); // a data-flow algorithm of your own
///     flow.submit("add", [&] { y += x; }, {trencadis::read(&x), trencadis::readwrite(&y)});
///     flow.wait();
#include "base/error.hpp"
#include "drivers/distributed.hpp"
#include "drivers/incremental_lu.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/tile_qr.hpp"
#include "graph/info.hpp"
#include "graph/waiting.hpp"
#include "observe/trace.hpp"
#include "session/session.hpp"
#include "trencadis/flow.hpp"

namespace trencadis {
using namespace face;
}
