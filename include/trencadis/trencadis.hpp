#pragma once
/// trencadis for C++: everything a program includes.
///
///     trencadis::Session session;                                      // workers, scheduler, kernels
///     trencadis::posv(session, trencadis::Uplo::lower, n, 1, A, lda, b, ldb);
///
///     trencadis::TaskFlow flow(session.executor());                    // a data-flow algorithm of your own
///     flow.submit("add", [&] { y += x; }, {trencadis::read(&x), trencadis::readwrite(&y)});
///     flow.wait();
#include "base/error.hpp"
#include "graph/info.hpp"
#include "graph/task_flow.hpp"
#include "graph/waiting.hpp"
#include "machine/machine.hpp"
#include "observe/trace.hpp"
#include "session/linear_algebra.hpp"
#include "session/session.hpp"
