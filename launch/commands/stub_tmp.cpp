#include "launch/commands/command.hpp"
namespace fabricgate::launch {
int run_inventory(const std::vector<std::string>&) { return 70; }
int run_plan(const std::vector<std::string>&) { return 70; }
int run_stage(const std::vector<std::string>&) { return 70; }
int run_judge(const std::vector<std::string>&) { return 70; }
}
