#pragma once
/// Host ranges in the notation of Slurm and ClusterShell: gpu[001-064,070], several groups and several ranges separated
/// by commas: rack[1-2]n[01-16],login1.
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate {

/// Expands left to right, keeps order and leading zeros. Errors (kind parse) name the character position: unbalanced
/// bracket, empty range, descending range, more than 65,536 names.
Result<std::vector<std::string>> expand_hosts(std::string_view text);

/// The shortest notation of `hosts` (sorted, duplicates once): {"gpu001","gpu002","gpu004"} → "gpu[001-002,004]".
/// Folds the last number of each name; names that differ elsewhere stay apart.
std::string fold_hosts(std::vector<std::string> hosts);

}  // namespace fabricgate
