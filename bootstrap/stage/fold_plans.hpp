#pragma once
/// What is to be done on many nodes as one text: nodes whose commands are the same, but for their own addresses,
/// are one block with placeholders and a table of the addresses. Pure.
#include <cstdint>
#include <string>
#include <vector>

namespace fabricgate::bootstrap {

/// What a node alone has, and counts up from node to node.
struct OwnWord {
  std::string name;         ///< "rail0"
  std::uint64_t value = 0;  ///< an IPv4 address, host byte order
  int bytes = 0;            ///< not 0: instead the first so many bytes of a longer text like 02:0a:…
};

struct NodePlan {
  std::string name, head;             ///< "planned", "unreachable: ssh.unreachable: refused"
  std::vector<std::string> commands;  ///< as a person would type them
  std::vector<OwnWord> addresses;
};

/// Blocks in the order of their first nodes. A node that shares its commands with no other, and commands that are the
/// same letter for letter, are printed as they are typed. Else "{rail0}" stands for the node's own address on rail0,
/// and rows below give it: nodes whose addresses all count up with them are one row, the n-th node having the n-th
/// address.
std::string fold_plans(const std::vector<NodePlan>& nodes);

}  // namespace fabricgate::bootstrap
