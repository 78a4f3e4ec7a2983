/// Any bytes as an inventory: no crash, no hang, and what loads has a desired state per node that survives JSON.
#include <cstdlib>

#include "inventory/desired/desired.hpp"
#include "inventory/hostfile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace fabricgate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LoadedInventory loaded = parse_inventory(text, "fuzz");
  if (loaded.inventory.has_value() != loaded.problems.empty()) std::abort();
  for (const InventoryProblem& problem : loaded.problems) (void)nlohmann::json(to_string(problem)).dump();
  if (!loaded.inventory) return 0;
  const Desired last = desired(*loaded.inventory, loaded.inventory->nodes.size() - 1);
  const auto back = desired_from_json(nlohmann::json::parse(to_json_value(last).dump()));
  if (!back || to_json_value(*back) != to_json_value(last)) std::abort();
  if (!write_hostfile(*loaded.inventory)) std::abort();
  (void)write_ssh_config(*loaded.inventory);
  return 0;
}
