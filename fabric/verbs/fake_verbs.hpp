#pragma once
/// A verbs device in memory, for tests. fake_verbs.cpp defines the functions of libibverbs that the engine calls, and
/// fills the operations table of its contexts, so that a test which links it drives the engine as it is: devices
/// "fake0" and "fake1" carry messages by memcpy, and refuse what an adapter would refuse.
#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/verbs/failure.hpp"

namespace fabricgate::fabric {

struct FakeDevice {
  std::string name;
  ibv_port_state state = IBV_PORT_ACTIVE;
  ibv_mtu mtu = IBV_MTU_4096;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  int gid_index = 3;  ///< the only entry of its table that is not empty
  std::uint32_t most_inline = 64;
};

/// What a message meets on its way; `data` may be changed.
struct FakeMessage {
  const ibv_context* from;
  ibv_wr_opcode opcode;
  std::byte* data;
  std::size_t bytes;
  std::uint64_t number;  ///< of all messages so far
};

/// One for the process; reset() before each test.
struct FakeVerbs {
  std::vector<FakeDevice> devices;
  std::map<VerbsCall, int> fail;  ///< errno of these calls
  /// Status of the work request; success lets it pass.
  std::function<ibv_wc_status(const FakeMessage&)> on_message;

  int live = 0;         ///< objects made and not destroyed
  int misuse = 0;       ///< destroyed too early, queue overrun, transition out of order
  std::string misused;  ///< the first of these
  std::uint64_t messages = 0, posts = 0, completions = 0;

  void reset();
};
FakeVerbs& fake_verbs();

}  // namespace fabricgate::fabric
