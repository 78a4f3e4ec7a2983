#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <cstdio>

#include "bootstrap/ssh/descriptors.hpp"
#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/ssh/scan.hpp"
#include "bootstrap/stage/stage.hpp"
#include "inventory/hostfile.hpp"
#include "inventory/inventory.hpp"
#include "inventory/learn.hpp"
#include "inventory/show.hpp"
#include "inventory/yaml_reader.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/options.hpp"
#include "launch/interrupt.hpp"
#include "launch/programs.hpp"
#include "results/cause.hpp"
#include "results/file.hpp"
#include "results/host_range.hpp"
#include "results/log.hpp"
#include "suites/suite.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int inconclusive = static_cast<int>(ExitCode::inconclusive);
constexpr int not_ready = static_cast<int>(ExitCode::not_ready);
constexpr double contact_s = 300;

struct Options {
  std::string file, node, output, compare, format, name = "node";
  std::vector<std::string> nodes;
  bool add = false;
};

/// `made`: what a person goes on to edit, so that no file is replaced by it.
int put(const std::string& text, const std::string& path, const std::string& input, bool made) {
  if (path.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::error_code error;
  if (std::filesystem::equivalent(path, input, error))
    return fail({ErrorKind::parse, path + " is the file that was read; choose another one to write to", 0});
  if (made && std::filesystem::exists(path, error))
    return fail({ErrorKind::parse, path + " exists already and is left as it is; choose another file, or move it away", 0});
  const auto written = write_file_atomic(path, text);
  return written ? 0 : fail(written.error());
}

int check(const Inventory& inventory, const Options& options) {
  if (auto known = suites::check_built_in(inventory.suite); !known)
    fmt::print(stderr, "{}: {}; without that file no gate starts\n", options.file, known.error().what);
  std::size_t required = 0;
  for (const Node& node : inventory.nodes) required += node.required ? 1U : 0U;
  if (required == 0)
    fmt::print(stderr, "{}: every node has required: false; over nothing that is demanded the gate is never READY\n", options.file);
  fmt::print("{}: good; cluster {}, {} nodes ({} required){}\n", options.file, inventory.cluster,
             inventory.nodes.size(), required, inventory.emulated() ? ", emulated" : "");
  return 0;
}

int show(const Inventory& inventory, const Options& options) {
  if (options.node.empty()) return put(show_inventory(inventory), "", "", false);
  const auto node = inventory.find(options.node);
  if (!node) return fail({ErrorKind::parse, fmt::format("{}: no node is named '{}'", options.file, options.node), 0});
  return put(show_node(inventory, *node), "", "", false);
}

Result<std::vector<HostSlots>> read_hosts(const std::string& path, const std::string& format) {
  const auto text = read_file(path, written_by_hand_bytes);
  if (!text) return text.error();
  const auto chosen = format.empty() ? guess_hostfile_format(*text) : parse_hostfile_format(format);
  if (!chosen) return Error{ErrorKind::parse, "format '" + format + "': one of openmpi, hydra, slurm is needed", 0};
  return read_hostfile(*text, path, *chosen);
}

int compare(const Inventory& inventory, const Options& options) {
  const auto hosts = read_hosts(options.compare, options.format);
  if (!hosts) return fail(hosts.error());
  const auto findings = compare_hostfile(inventory, *hosts, options.compare);
  for (const Finding& finding : findings)
    fmt::print("{}: {}: expected {}, found {}\n", finding.cause, to_string(finding.subject), finding.expected,
               finding.found);
  if (findings.empty()) fmt::print("{} fits {}: {} hosts\n", options.compare, options.file, hosts->size());
  return static_cast<int>(exit_code(worst(findings)));
}

int write_hosts(const Inventory& inventory, const Options& options) {
  if (!options.compare.empty()) return compare(inventory, options);
  if (!options.format.empty())
    return fail({ErrorKind::parse, "--format says how the file of --compare is written; what is written here is always Open MPI's form", 0});
  const auto text = write_hostfile(inventory);
  return text ? put(*text, options.output, options.file, false) : fail(text.error());
}

int import_hosts(const Options& options) {
  const auto hosts = read_hosts(options.file, options.format);
  return hosts ? put(import_inventory(*hosts, options.file), options.output, options.file, true) : fail(hosts.error());
}

Result<bootstrap::StageReport> ask_facts(const Inventory& inventory, const std::vector<std::string>& names) {
  const auto agent = local_program("fabricgate-agent");
  if (!agent) return agent.error();
  std::string ranges;
  for (const std::string& name : names) ranges += (ranges.empty() ? "" : ",") + name;
  const auto nodes = bootstrap::select_nodes(inventory, ranges);
  if (!nodes) return nodes.error();
  return bootstrap::plan_nodes(inventory, *nodes, {.agent_path = *agent, .allow_busy = true, .stop = interrupted},
                               Deadline::in_seconds(contact_s));
}

/// Comments, so that the whole output stays YAML. Nodes that differ alike are folded.
std::string differences_text(const std::vector<bootstrap::NodeReport>& nodes, const bootstrap::NodeReport& reference) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> groups;
  for (const bootstrap::NodeReport& node : nodes) {
    if (!node.facts || &node == &reference) continue;
    const auto lines = differences(*reference.facts, *node.facts);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == lines; });
    if (group == groups.end()) group = groups.insert(groups.end(), {lines, {}});
    group->second.push_back(node.name);
  }
  std::string text;
  for (const auto& [lines, names] : groups) {
    text += fmt::format("# {} {} {}{}\n", fold_hosts(names), lines.empty() ? "as" : "against", reference.name,
                        lines.empty() ? "" : ":");
    for (const std::string& line : lines) text += "#   " + line + "\n";
  }
  return text;
}

/// Then what is learnt is the section as a whole, which may be appended to the file.
bool lacks_classes(const Inventory& inventory) {
  return std::all_of(inventory.nodes.begin(), inventory.nodes.end(),
                     [](const Node& node) { return !node.spec || node.spec->name.empty(); });
}

int learn(const Inventory& inventory, const Options& options) {
  const auto report = ask_facts(inventory, options.nodes);
  if (!report) return fail(report.error());
  const bootstrap::NodeReport* reference = nullptr;
  int silent = 0;
  for (const bootstrap::NodeReport& node : report->nodes) {
    if (node.facts) {
      if (!reference) reference = &node;
      continue;
    }
    const Cause* cause = node.findings.empty() ? nullptr : find_cause(node.findings.front().cause);
    log::error(fmt::format("{}: no facts: {}{}", node.name, node.reason, cause ? ". " + cause->remedy : ""));
    ++silent;
  }
  if (!reference) return interrupted() ? inconclusive : not_ready;
  const bool section = lacks_classes(inventory);
  const std::string text =
      fmt::format("# learned from {}{}\n", reference->name,
                  section ? "" : "; goes below `classes:` of " + options.file + ", which is there already") +
      (section ? "classes:\n" : "") +
      learn_class(*reference->facts, inventory.management, options.name) + differences_text(report->nodes, *reference);
  const int code = put(text, options.output, options.file, true);
  return code != 0 ? code : interrupted() ? inconclusive : silent > 0 ? not_ready : 0;
}

int add_keys(const Inventory& inventory, const std::vector<std::string>& lines) {
  if (inventory.ssh.known_hosts.empty())
    return fail({ErrorKind::parse, "ssh.known_hosts of the inventory is empty: no file to add to", 0});
  const auto added = bootstrap::add_known_hosts(inventory.ssh.known_hosts, lines);
  if (!added) return fail(added.error(), not_ready);
  fmt::print("{} keys added to {}\n", *added, inventory.ssh.known_hosts);
  return 0;
}

/// New when either way of reaching the node finds no key: --add writes one line for both.
bootstrap::KnownKey known_both_ways(const bootstrap::ScannedKey& key) {
  for (const auto state : {bootstrap::KnownKey::changed, bootstrap::KnownKey::unreadable, bootstrap::KnownKey::unknown})
    if (key.known == state || key.known_by_name == state) return state;
  return bootstrap::KnownKey::known;
}

int scan_keys(const Inventory& inventory, const Options& options) {
  std::vector<std::string> lines;
  if (auto readable = bootstrap::check_known_hosts(inventory.ssh); !readable) return fail(readable.error());
  if (auto allowed = bootstrap::allow_descriptors(inventory.ssh, inventory.nodes.size()); !allowed) return fail(allowed.error());
  bool all = true;  // answered, and no key is another than the recorded one
  for (const auto& key : bootstrap::scan_host_keys(inventory, Deadline::in_seconds(contact_s), interrupted)) {
    const std::string& name = inventory.nodes[key.node].name;
    if (!key.status) {
      all = false;
      fmt::print("{:<20} {:<20} {}\n", name, key.address, key.status.error().what);
      continue;
    }
    const bootstrap::KnownKey known = known_both_ways(key);
    fmt::print("{:<20} {:<20} {} {} {}{}\n", name, key.address, key.type, key.fingerprint, to_string(known),
               known != key.known ? " by name" : "");
    if (known == bootstrap::KnownKey::unknown) lines.push_back(key.known_hosts_line);
    if (known != bootstrap::KnownKey::changed && known != bootstrap::KnownKey::unreadable) continue;
    all = false;
    log::error(fmt::format("{}: {} in {}: nothing is added for it; a person verifies the machine and replaces the line", name,
                           known == bootstrap::KnownKey::changed ? "another key is recorded" : "its key cannot be looked up",
                           inventory.ssh.known_hosts));
  }
  std::fflush(stdout);
  if (interrupted()) {
    fmt::print(stderr, "interrupted; nothing was written\n");
    return inconclusive;
  }
  if (!options.add) {
    fmt::print(stderr, "{}\n",
               lines.empty() ? "no key is new"
                             : "nothing was written; compare the fingerprints with the machines' own, then run again "
                               "with --add");
    return all ? 0 : not_ready;
  }
  const int code = add_keys(inventory, lines);
  return code != 0 ? code : all ? 0 : not_ready;
}

struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(const Inventory& inventory, const Options& options);
  Classes classes = Classes::needed;
};

constexpr std::array<Subcommand, 5> subcommands{{
    {"check", "read strictly and name every problem", check},
    {"show", "what the inventory says, with every default and derived address", show},
    {"hostfile", "write the hostfile of mpirun, or compare one with the inventory", write_hosts},
    {"learn",
     "write a node class from what a node says of itself, and how others differ; the inventory may still lack classes",
     learn, Classes::may_be_missing},
    {"scan-keys", "show host key fingerprints; add them to known_hosts on request only", scan_keys,
     Classes::may_be_missing},
}};

void describe(CLI::App& sub, const std::string& name, Options& options) {
  sub.add_option("file", options.file, name == "import" ? "hostfile or node list" : "inventory file")->required();
  if (name == "show") sub.add_option("--node", options.node, "one node, with all its addresses");
  if (name == "learn") {
    sub.add_option("nodes", options.nodes,
                   "nodes or host ranges; the first one is written, the others are compared with it")
        ->required();
    sub.add_option("--name", options.name, "name of the class")->capture_default_str();
  }
  if (name == "scan-keys") sub.add_flag("--add", options.add, "add the new keys to known_hosts; a changed key is refused");
  if (name == "hostfile") sub.add_option("--compare", options.compare, "hostfile to compare instead of writing one");
  if (name == "hostfile" || name == "learn" || name == "import")
    sub.add_option("-o,--output", options.output, "file to write instead of standard output");
  if (name == "hostfile" || name == "import")
    sub.add_option("--format", options.format, "form of the file read: openmpi, hydra or slurm; guessed from the content when not given");
}

/// CLI11 says of a mistyped subcommand only that it is not expected.
bool refuse_unknown(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return false;
  std::vector<std::string_view> known{"import"};
  for (const Subcommand& each : subcommands) known.emplace_back(each.name);
  if (std::find(known.begin(), known.end(), arguments[0]) != known.end()) return false;
  fmt::print(stderr, "fabricgate inventory: {}; see fabricgate inventory --help\n", unknown("command", arguments[0], "", known));
  return true;
}

}  // namespace

int run_inventory(const std::vector<std::string>& arguments) {
  CLI::App app("The declared machines: inventory files and hostfiles.", "fabricgate inventory");
  if (refuse_unknown(arguments)) return usage;
  app.require_subcommand(1);
  Options options;
  for (const Subcommand& each : subcommands) describe(*app.add_subcommand(each.name, each.summary), each.name, options);
  CLI::App* import = app.add_subcommand("import", "write an inventory to be filled in from a hostfile");
  describe(*import, "import", options);
  if (const auto code = parse_options(app, arguments)) return *code;
  if (import->parsed()) return import_hosts(options);
  for (const Subcommand& each : subcommands) {
    if (!app.got_subcommand(each.name)) continue;
    const auto inventory = load_inventory(options.file, each.classes);
    return inventory ? each.run(*inventory, options) : fail(inventory.error());
  }
  return usage;
}

}  // namespace fabricgate::launch
