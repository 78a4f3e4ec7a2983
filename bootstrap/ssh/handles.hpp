#pragma once
/// Owners of libssh's handles; inside bootstrap/ssh only.
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include "results/handle.hpp"

namespace fabricgate::bootstrap {

using SshSession = Handle<ssh_session_struct, ssh_free>;
using SshChannel = Handle<ssh_channel_struct, ssh_channel_free>;
using SshEvent = Handle<ssh_event_struct, ssh_event_free>;
using SshKey = Handle<ssh_key_struct, ssh_key_free>;
using SshString = Handle<char, ssh_string_free_char>;

}  // namespace fabricgate::bootstrap
