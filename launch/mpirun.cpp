#include "launch/mpirun.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "launch/mpi/environment.hpp"

namespace fabricgate::launch {
namespace {

using Arguments = std::vector<std::string>;

/// The distribution's own needs none: daemons are on every PATH.
bool has_prefix(const std::string& prefix) { return prefix != "/usr" && !prefix.empty(); }

void add(Arguments& out, const char* option, const std::string& name, const std::string& value) {
  out.insert(out.end(), {option, name, value});
}

void add_ports(Arguments& out, const MpirunJob& job) {
  const auto ports = parse_ports(job.ports);
  if (!ports || ports->count() < 3) return;
  const PortRange part = launcher_part(*ports), own = job.launcher_ports.low > 0 ? job.launcher_ports : part;
  const std::string range = std::to_string(own.low) + "-" + std::to_string(own.high);
  if (job.version.major >= 5)
    add(out, "--prtemca", "prte_dynamic_ipv4_ports", range);
  else
    add(out, "--mca", "oob_tcp_dynamic_ipv4_ports", range);
  add(out, "--mca", "btl_tcp_port_min_v4", std::to_string(part.high + 1));
  add(out, "--mca", "btl_tcp_port_range_v4", std::to_string(ports->count() - part.count()));
}

/// How daemons are started: over our SSH configuration, from here to every node (no tree: nodes hold no private keys),
/// whatever batch system we may be inside of.
void add_launcher(Arguments& out, const MpirunJob& job) {
  const bool prrte = job.version.major >= 5;
  const char* option = prrte ? "--prtemca" : "--mca";
  const std::string shell = prrte ? "plm_ssh_" : "plm_rsh_";
  const std::string runtime = prrte ? "prte_" : "orte_";
  add(out, option, "plm", prrte ? "ssh" : "rsh");
  add(out, option, "ras", prrte ? "^slurm,pbs,lsf,gridengine" : "^slurm,tm,lsf,gridengine,alps");
  add(out, option, shell + "agent", job.ssh_script.empty() ? "ssh" : "sh");
  add(out, option, shell + "no_tree_spawn", "1");
  add(out, option, shell + "num_concurrent", std::to_string(std::clamp(job.nodes + 1, 8, 512)));
  if (!job.ssh_script.empty()) add(out, option, shell + "args", job.ssh_script);
  add(out, option, runtime + "keep_fqdn_hostnames", "1");
  if (!job.session_dir.empty()) add(out, option, runtime + "tmpdir_base", job.session_dir);
  if (prrte) add(out, option, "prte_if_include", format_cidr(job.management));
}

}  // namespace

Result<MpirunVersion> parse_mpirun_version(const std::string& text) {
  const std::string mark = "(Open MPI) ";
  MpirunVersion version;
  const auto at = text.find(mark);
  if (at == std::string::npos || std::sscanf(text.c_str() + at + mark.size(), "%d.%d.%d", &version.major, &version.minor,
                                             &version.release) < 2)
    return Error{ErrorKind::unavailable,
                 "mpirun --version: not Open MPI: '" + text.substr(0, std::min(text.find('\n'), std::size_t{120})) +
                     "'; set launcher.mpi_prefix to an Open MPI 4 or 5 installation",
                 0};
  if (version.major < 4)
    return Error{ErrorKind::unavailable, "Open MPI " + std::to_string(version.major) + " is too old, 4 or 5 is needed", 0};
  return version;
}

std::string mpirun_program(const std::string& prefix) {
  const std::string path = prefix + "/bin/mpirun";
  return has_prefix(prefix) && ::access(path.c_str(), X_OK) == 0 ? path : "mpirun";
}

std::string ssh_script(const std::string& config) {
  return "# mpirun's way to a node: sh FILE HOST COMMAND...\n" + shell_line({"ssh", "-x", "-F", config}) +
         " \"$@\"\nended=$?\necho \"ssh to $1 ended with exit code $ended\" >&2\nexit $ended\n";
}

Status check_mpirun_path(const std::string& path) {
  const auto refused = [](unsigned char c) { return c <= ' ' || c == 0x7f || std::string_view(",\"$`\\!").find(static_cast<char>(c)) != std::string_view::npos; };
  const auto found = std::find_if(path.begin(), path.end(), refused);
  if (found == path.end()) return {};
  const auto code = static_cast<unsigned char>(*found);
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x", code);
  const std::string name = code == ' ' ? "a blank" : code < ' ' || code == 0x7f ? std::string("a character ") + hex : std::string("'") + *found + "'";
  return Error{ErrorKind::parse, "run folder " + path + ": mpirun cannot take a path with " + name + " in it; name another with --runs", 0};
}

std::vector<std::string> mpirun_arguments(const MpirunJob& job) {
  Arguments out{job.mpirun, "--hostfile", job.hostfile, "-N", "1", "--bind-to", "none", "--stdin", "none"};
  if (job.as_root) out.push_back("--allow-run-as-root");
  if (has_prefix(job.prefix)) out.insert(out.end(), {"--prefix", job.prefix});
  add_launcher(out, job);
  for (const auto& [name, value] : mpi_parameters(job.management)) {
    const bool of_other_release =
        job.version.major >= 5 ? name == "oob_tcp_if_include" || name == "btl_vader_single_copy_mechanism" : name == "smsc";
    if (!of_other_release) add(out, "--mca", name, value);
  }
  add_ports(out, job);
  out.insert(out.end(), job.program.begin(), job.program.end());
  return out;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : arguments) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                               "_-./:,=@+%") == std::string::npos;
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace fabricgate::launch
