#include "launch/accept/worker.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "inventory/host/process.hpp"
#include "launch/build_id.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// From the answers to one order until the next order: judging and planning on rank 0, and all that sending takes.
constexpr double next_order_s = 60;

/// Open MPI's daemon on a node that the head does not share; mpirun itself is the head's to end.
bool is_launch_daemon(pid_t pid) {
  const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
  return name && (*name == "orted\n" || *name == "prted\n");
}

}  // namespace

int Work::rank_of(const std::string& host_name) const {
  for (std::size_t i = 0; i < host_of_rank.size(); ++i)
    if (host_of_rank[i] == host_name) return static_cast<int>(i);
  return -1;
}

Worker::Worker(const Setup& setup, std::optional<std::size_t> node, Host& host, fabric::Rendezvous& meet, Pulse* pulse)
    : setup_(setup), node_(node), host_(host), meet_(meet), pulse_(pulse) {
  if (node_) want_ = desired(setup.inventory, *node_);
}

Arrival Worker::arrival(int local_rank) const {
  Arrival out{.node = node_ ? setup_.inventory.nodes[*node_].name : "",
              .hostname = own_host_name(),
              .build = own_build_id(),
              .local_rank = local_rank,
              .pid = static_cast<int>(getpid()),
              .in_use = in_use_,
              .copy = copy_};
  for (const Cidr& address : local_addresses()) out.addresses.push_back(format_cidr(address));
  return out;
}

Reply Worker::act(const Order& order, const Part& part) {
  Work work{.setup = setup_, .host = host_, .meet = meet_, .node = node_.value_or(0), .want = want_, .host_of_rank = host_of_rank_};
  PartResult result = part.run(work, order.body, Deadline::in_seconds(order.seconds));
  Reply reply{.data = std::move(result.data)};
  for (const Record& record : result.stored) reply.lines.push_back(to_line(record));
  const std::string spool = rank_spool(setup_.inventory.launcher.spool_dir, setup_.job.identity.run, work.name());
  for (Measured& measured : result.measured) {
    std::string line = to_line(judged(setup_, std::move(measured)));
    if (auto written = append_line(spool, line, true); !written) log::warn(written.error().with("spool").what);
    reply.lines.push_back(std::move(line));
  }
  return reply;
}

Reply Worker::execute(const Order& order) {
  if (pulse_) pulse_->set_phase(order.kind);
  try {
    if (order.kind == "roster") {
      host_of_rank_ = order.body.at("hosts").get<std::vector<std::string>>();
      return {};
    }
    const bool acts = node_ && std::find(host_of_rank_.begin(), host_of_rank_.end(), setup_.inventory.nodes[*node_].name) != host_of_rank_.end();
    for (const Part& part : parts())
      if (order.kind == part.kind) return acts || part.everyone ? act(order, part) : Reply{};
    return {.error = "no part '" + order.kind + "': the ranks run different programs"};
  } catch (const std::exception& e) {  // the border of this rank: json and bad_alloc must not leave the others waiting
    return {.error = order.kind + ": " + e.what()};
  }
}

Status serve(Worker& worker, fabric::Rendezvous& meet, const Arrival& arrival, Deadline deadline) {
  if (auto sent = meet.gather(to_text(arrival), deadline); !sent) return sent.error();
  for (double seconds = 0;;) {
    auto text = meet.broadcast("", deadline.at_most(seconds + next_order_s));
    if (!text) return text.error().with("the next order of rank 0");
    auto order = order_from_text(*text);
    if (!order) return order.error();
    seconds = order->seconds;
    const Reply reply = order->kind == "done" ? Reply{} : worker.execute(*order);
    if (auto sent = meet.gather(to_text(reply), deadline); !sent) return sent.error();
    if (order->kind == "done") return {};
  }
}

Status make_spool(const std::string& folder) {
  for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
    const std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return error_from_errno("mkdir " + part, errno);
    if (at == std::string::npos) return {};
  }
}

Status note_process(const Setup& setup, const std::string& host) {
  for (const pid_t pid : {getpid(), getppid()}) {
    if (pid != getpid() && !is_launch_daemon(pid)) continue;
    const json line{{"pid", pid}, {"start_ticks", start_ticks(pid)}, {"host", host}, {"job", setup.job.name}, {"run", setup.job.identity.run}};
    const std::string path = process_spool(setup.inventory.launcher.spool_dir, setup.job.identity.run);
    if (auto written = append_line(path, line.dump(), true); !written) return written;
  }
  return {};
}

}  // namespace fabricgate::launch
