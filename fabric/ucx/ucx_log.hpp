#pragma once
/// UCX's own messages go to our log at debug level; the last one is kept, because a UCX status alone says little.
#include <string>

namespace fabricgate::fabric {

/// Once per process, before the first context.
void route_ucx_log();

/// The last warning or error UCX gave, and forgets it; empty when there was none.
std::string take_last_ucx_message();

}  // namespace fabricgate::fabric
