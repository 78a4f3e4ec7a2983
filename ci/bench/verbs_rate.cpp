// Bandwidth or latency of RDMA between two processes, with the options of perftest where it has them:
//
//   verbs_rate -d DEVICE -x GID [options]             on one end: waits
//   verbs_rate -d DEVICE -x GID [options] ADDRESS     on the other: connects to it over TCP, measures, prints
//
// Both ends take the same options. A line per size: operation, bytes, then MB/s and messages per second of what the
// end with ADDRESS posts (with -b of both), or half round trips in us (p50, p99). --json prints the whole sample.
// Margins are 0 unless given, so that everything counts from before the first post to the last completion, as with
// perftest.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "ci/bench/socket_rendezvous.hpp"
#include "fabric/verbs/run.hpp"

using namespace fabricgate;
using namespace fabricgate::fabric;

namespace {

struct Options {
  std::string operation = "write", address, sizes = "65536";
  PortName port;
  int tcp_port = 18600;
  bool latency = false, json = false, wrong_key = false;
  double limit_s = 120;
  VerbsStep step{.messages = 1000};
  VerbsPlan plan;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("address", options.address, "the other end; not given: wait for it");
  app.add_option("-d", options.port.device, "RDMA device")->required();
  app.add_option("-i", options.port.port, "its port");
  app.add_option("-x", options.port.gid_index, "GID index");
  app.add_option("-p", options.tcp_port, "TCP port to meet on");
  app.add_option("-o", options.operation, "write, write_imm, read or send");
  app.add_flag("--latency", options.latency, "ping-pong instead of bandwidth");
  app.add_option("-s", options.sizes, "sizes in bytes, A,B,…");
  app.add_option("-n", options.step.messages, "messages per queue pair, or round trips; 0 with -D");
  app.add_option("-D", options.step.seconds, "seconds instead of messages");
  app.add_option("--margin", options.step.margin_messages, "messages at either end that do not count");
  app.add_option("--margin-s", options.step.margin_s, "seconds at either end that do not count, with -D");
  app.add_flag("-b", options.step.both, "both directions at once");
  app.add_option("-q", options.plan.qps, "queue pairs");
  app.add_option("-t", options.plan.depth, "depth of the queues");
  app.add_option("-l", options.plan.post_list, "work requests per post");
  app.add_option("-Q", options.plan.moderation, "messages per completion");
  app.add_option("-I", options.plan.inline_bytes, "largest inline message");
  app.add_option("-u", options.plan.timeout, "timeout of acknowledgements, 4.096 us * 2^u");
  app.add_option("--cycle", options.plan.cycle_bytes, "memory that a queue pair goes round in");
  app.add_option("--limit", options.limit_s, "seconds for everything");
  app.add_flag("--wrong-key", options.wrong_key, "use a remote key that the other end did not give");
  app.add_flag("--json", options.json, "print the sample");
}

Status finish(Options& options) {
  auto operation = parse_operation(options.operation);
  if (!operation) return operation.error();
  options.step.operation = *operation;
  options.step.latency = options.latency;
  // the end with the address posts: it writes and sends to the other, and reads from it
  (*operation == Operation::read ? options.step.a_to_b : options.step.b_to_a) = false;
  if (options.step.seconds > 0) options.step.messages = 0;
  std::istringstream list(options.sizes);
  for (std::string bytes; std::getline(list, bytes, ',');) {
    options.step.bytes = std::strtoull(bytes.c_str(), nullptr, 10);
    options.plan.steps.push_back(options.step);
  }
  return check_plan(options.plan);
}

void print(const VerbsSample& sample) {
  for (const auto& rate : sample.rates) {
    const double bytes_per_s = rate.a_to_b.bytes_per_s + rate.b_to_a.bytes_per_s;  // what was not measured is 0
    fmt::print("{} {} {:.6f} {:.3f}\n", to_string(rate.operation), rate.bytes, bytes_per_s / 1e6,
               bytes_per_s / static_cast<double>(rate.bytes));
  }
  for (const auto& latency : sample.latencies)
    fmt::print("{} {} {:.3f} {:.3f}\n", to_string(latency.operation), latency.bytes, latency.p50_s * 1e6,
               latency.p99_s * 1e6);
}

bool whole(const VerbsSample& sample) {
  if (!sample.failure.cause.empty())
    fmt::print(stderr, "verbs_rate: {} at {}: {} {}\n", sample.failure.cause, sample.failure.host, sample.failure.what,
               sample.failure.step);
  std::uint64_t wrong = 0;
  for (const auto& rate : sample.rates)
    for (const auto* flow : {&rate.a_to_b, &rate.b_to_a}) {
      wrong += flow->payload_errors;
      if (flow->payload_errors > 0) fmt::print(stderr, "verbs_rate: wrong data: {}\n", flow->first_wrong);
    }
  return sample.failure.cause.empty() && wrong == 0;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("RDMA bandwidth or latency between two processes");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, count, arguments);
  if (auto good = finish(options); !good) {
    fmt::print(stderr, "verbs_rate: {}\n", good.error().what);
    return 64;
  }
  const auto deadline = Deadline::in_seconds(options.limit_s);
  SocketRendezvous rendezvous(options.address, options.tcp_port, deadline);
  if (!rendezvous.connected()) {
    fmt::print(stderr, "verbs_rate: the other end is not there (TCP port {})\n", options.tcp_port);
    return EXIT_FAILURE;
  }
  const bool is_a = rendezvous.rank() == 0;
  VerbsPath path{.a = "this end",
                 .b = "the waiting end",
                 .is_a = is_a,
                 .peer_rank = is_a ? 1 : 0,
                 .port = options.port,
                 .no_port = {}};
  if (options.wrong_key) path.on_peer = [](EndInfo& peer) { peer.rkey ^= 0x55; };
  const auto sample = run_verbs(rendezvous, path, options.plan, deadline);
  if (options.json) fmt::print("{}\n", to_json_value(sample).dump());
  if (is_a && !options.json) print(sample);
  return whole(sample) ? EXIT_SUCCESS : EXIT_FAILURE;
}
