/// Any bytes as a node list of any launcher: no crash, no hang; what was read has unique names and imports.
#include <cstdlib>
#include <set>

#include "inventory/hostfile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace fabricgate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto format :
       {HostfileFormat::open_mpi, HostfileFormat::hydra, HostfileFormat::slurm, guess_hostfile_format(text)}) {
    const auto hosts = read_hostfile(text, "fuzz", format);
    if (!hosts) continue;
    std::set<std::string> names;
    for (const HostSlots& host : *hosts)
      if (!names.insert(host.name).second || host.slots < 1) std::abort();
    if (parse_inventory(import_inventory(*hosts, "fuzz"), "import").inventory) std::abort();
  }
  return 0;
}
