// What runs on nodes under mpirun: `accept` alone, so that a node needs no SSH library.
#include <array>

#include "launch/commands/command.hpp"

using namespace fabricgate::launch;

namespace {

constexpr std::array<Command, 1> commands{{
    {"accept", "measure host, link, pair and collective tiers in launched ranks", "mpirun, staged nodes",
     "mpirun --hostfile hostfile -N 1 fabricgate-rank accept cluster.yaml", run_rank_accept},
}};

}  // namespace

int main(int argc, char** argv) { return run_program("fabricgate-rank", commands, argc, argv); }
