#pragma once
/// What a rank does for each kind of order. The body of each order is described at its function.
#include "launch/accept/worker.hpp"

namespace fabricgate::launch {

/// {"hosts": [who is to be staged]}; data: {"share", "agent_sha256", "rank_sha256", "journal"}
PartResult stage_own_node(Work& work, const nlohmann::json& body, Deadline deadline);
/// {"clock_unix_s": rank 0's clock when it asked}; data: {"busy": [why the node should be left alone]}
PartResult measure_facts(Work& work, const nlohmann::json& body, Deadline deadline);
/// null
PartResult measure_link(Work& work, const nlohmann::json& body, Deadline deadline);
/// null; needs the link.rail records of this run in the node's spool
PartResult measure_counters(Work& work, const nlohmann::json& body, Deadline deadline);
/// {"pairs": [[a, b], …]}; data: the answers of this node
PartResult measure_reach(Work& work, const nlohmann::json& body, Deadline deadline);
/// a FrameOrder (frame_plan.hpp); data: this node's halves
PartResult measure_frames(Work& work, const nlohmann::json& body, Deadline deadline);
/// a fabric::RoundOrder; data: this rank's halves as text
PartResult measure_pairs(Work& work, const nlohmann::json& body, Deadline deadline);
/// a collective order of fabric/collective; data: this rank's share as text
PartResult measure_collective(Work& work, const nlohmann::json& body, Deadline deadline);

/// Records of this run and binary in the node's own spool whose check is `check`.
std::vector<Record> records_in_spool(const Work& work, const std::string& check);

}  // namespace fabricgate::launch
