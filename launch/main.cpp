#include <array>

#include "launch/commands/command.hpp"

using namespace fabricgate::launch;

namespace {

constexpr std::array<Command, 8> commands{{
    {"inventory", "check, show, hostfile, import, learn, scan-keys: the declared machines", "the inventory file",
     "fabricgate inventory check cluster.yaml", run_inventory},
    {"plan", "print what stage would do on each node; changes nothing", "ssh to the nodes", "fabricgate plan cluster.yaml", run_plan},
    {"stage", "bring every node to its declared state", "ssh to the nodes", "fabricgate stage cluster.yaml", run_stage},
    {"unstage", "take away what stage has left on each node; --plan shows it", "ssh to the nodes", "fabricgate unstage cluster.yaml --plan",
     run_unstage},
    {"accept", "measure host, link, pair and collective tiers in launched ranks", "mpirun, staged nodes",
     "mpirun --hostfile hostfile -N 1 fabricgate accept cluster.yaml", run_accept},
    {"gate", "plan, stage, accept, verdict: the whole way", "ssh to the nodes, mpirun here",
     "fabricgate gate cluster.yaml --runs ./fabricgate-runs", run_gate},
    {"judge", "judge the stored samples of a run again, also under other limits", "a run folder",
     "fabricgate judge fabricgate-runs/RUN --limits limits.yaml", run_judge},
    {"causes", "the catalogue of causes: what a finding means and what to do", "nothing", "fabricgate causes link.down", run_causes},
}};

}  // namespace

int main(int argc, char** argv) { return run_program("fabricgate", commands, argc, argv); }
