#pragma once
/// The one command that a node with nothing to do needs: say what is deployed, then become the agent.
#include <optional>
#include <string>
#include <string_view>

#include "bootstrap/command/command.hpp"

namespace fabricgate::bootstrap {

/// Where things are on a node.
struct Places {
  std::string agent;       ///< <install_dir>/agent/fabricgate-agent-<16 digits of its sha256>
  std::string spare;       ///< where plan puts an agent that is not deployed; random, outside install_dir
  std::string rank;        ///< <install_dir>/bin/fabricgate-rank
  std::string agent_link;  ///< <install_dir>/bin/fabricgate-agent
  std::string host;        ///< short name that the machine must have
};
Places places_of(const std::string& install_dir, const std::string& agent_sha256, const std::string& nonce,
                 const std::string& node);

inline constexpr int exit_no_agent = 94, exit_other_machine = 95;

/// Prints a line with the node's clock and name, the checksum of the deployed rank and whether the link leads to the
/// agent; then runs the agent with `input`, or exits with exit_no_agent where neither place holds it with the right
/// checksum. On a machine of another name it stops before that with exit_other_machine.
Command look_command(const Places& places, const std::string& agent_sha256, const std::string& nonce,
                     std::string input);

struct Look {
  std::optional<double> clock_unix_s;  ///< absent where date knows no %N
  std::string rank_sha256;             ///< "none" when there is none
  bool linked = false;
  std::string hostname, machine;  ///< see Answerer
};
/// Nullopt when the line of `nonce` is not in `text` yet.
std::optional<Look> parse_look(std::string_view text, std::string_view nonce);

}  // namespace fabricgate::bootstrap
