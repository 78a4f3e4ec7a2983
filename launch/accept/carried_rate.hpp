#pragma once
/// What the rails of a node carry, for the size and time of what is measured over them.
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "suites/gate/exhibit.hpp"

namespace fabricgate::launch {

/// Bytes/s of the slowest node when its data is split over the rails as they are declared: the declared rates, less
/// where a pair was below the limit in all its attempts, by the slowest. Never under a hundredth of what is declared.
double carried_bytes_per_s(const Inventory& inventory, const std::vector<std::string>& hosts,
                           const std::vector<suites::Exhibit>& exhibits);

}  // namespace fabricgate::launch
