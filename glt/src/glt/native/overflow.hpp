#pragma once

namespace trencadis::ult {

class Worker;

/// A stack overflow hits the guard page below the stack. The handler names the unit, then hands the signal on to whoever had it
/// before. Installed between init and finalize; each worker's thread has a stack of its own for it.
void install_overflow_handler();
void remove_overflow_handler();
bool give_signal_stack(Worker& worker); ///< by the worker's thread
void take_signal_stack(Worker& worker); ///< as well

} // namespace trencadis::ult
