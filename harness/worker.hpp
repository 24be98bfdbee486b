// The built-in worker: reads requests on stdin, answers on descriptor 3, runs kernels, judges
// nothing.
#pragma once

namespace parity {

/// Until `bye` or end of input. Returns the process's exit code: 0, or 5 when it could not speak at
/// all.
int run_worker();

}  // namespace parity
