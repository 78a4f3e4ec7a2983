#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/checks/rdma_case.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Before and after a run of `seconds`.
RdmaCase over(double seconds, const char* link_layer = "infiniband") {
  RdmaCase one = rdma_case(link_layer);
  one.sample.before = one.sample.now;
  one.sample.now.read_unix_s += seconds;
  return one;
}

Record after(RdmaCase one, const char* counter, std::int64_t before, std::int64_t now) {
  one.sample.before->port.counters[counter] = before;
  one.sample.now.port.counters[counter] = now;
  return one.judged_as("link.rdma_counters");
}

TEST(LinkRdmaCounters, AQuietPortPassesAndWhatItDoesNotCountIsNamed) {
  const Record record = over(100).judged_as("link.rdma_counters");
  EXPECT_EQ(record.verdict, Verdict::pass) << record.reason;
  EXPECT_THAT(record.reason, HasSubstr("not counted by mlx5_0: link_error_recovery"));
}

TEST(LinkRdmaCounters, EachCounterHasItsLimitAndItsUnitOfTime) {
  struct Row {
    const char* counter;
    double seconds;
    std::int64_t grown;
    const char* told;  ///< empty: nothing
  };
  for (const Row& row : std::vector<Row>{{"symbol_error", 100, 120, ""},
                                         {"symbol_error", 100, 121, "link.symbol_errors fail"},
                                         {"symbol_error", 10, 110, "link.symbol_errors warn"},
                                         {"symbol_error", 7200, 240, ""},
                                         {"link_error_recovery", 10, 5, ""},
                                         {"link_error_recovery", 10, 6, "link.errors fail"},
                                         {"port_rcv_errors", 100, 1000, ""},
                                         {"port_rcv_errors", 100, 1001, "link.errors fail"},
                                         {"link_downed", 100, 1, "link.flapping fail"},
                                         {"local_link_integrity_errors", 100, 1, "link.errors fail"},
                                         {"excessive_buffer_overrun_errors", 100, 1, "link.errors fail"},
                                         {"rnr_nak_retry_err", 100, 1, "rdma.retries fail"},
                                         {"local_ack_timeout_err", 100, 100, ""},
                                         {"local_ack_timeout_err", 100, 101, "rdma.retries warn"},
                                         {"port_xmit_discards", 10, 1001, "rdma.congestion warn"},
                                         {"roce_slow_restart", 10, 101, "rdma.congestion warn"},
                                         {"port_xmit_wait", 1, 1000000, ""}}) {
    const auto all = told(after(over(row.seconds), row.counter, 2, 2 + row.grown));
    if (*row.told == '\0') EXPECT_THAT(all, IsEmpty()) << row.counter << " " << row.grown;
    else EXPECT_THAT(all, ElementsAre(row.told)) << row.counter << " " << row.grown;
  }
}

TEST(LinkRdmaCounters, ACounterThatStandsAtItsLargestValueIsInconclusive) {
  EXPECT_THAT(told(after(over(100), "symbol_error", 65535, 65535)), ElementsAre("link.counter_saturated inconclusive"));
  EXPECT_THAT(told(after(over(100), "link_downed", 255, 255)), ElementsAre("link.counter_saturated inconclusive"));
  EXPECT_THAT(told(after(over(100), "symbol_error", 65500, 65535)), ElementsAre("link.counter_saturated inconclusive"));
  EXPECT_THAT(told(after(over(100), "symbol_error", 10, 65535)), ElementsAre("link.symbol_errors fail")) << "what it could count is enough";
  EXPECT_THAT(told(after(over(100), "symbol_error", 65536, 65536)), IsEmpty()) << "a wider counter has not stopped";
  EXPECT_THAT(told(after(over(100), "local_ack_timeout_err", 65535, 65535)), IsEmpty());
}

TEST(LinkRdmaCounters, AResetOrAWrapIsInconclusiveAndNoNegativeRate) {
  const Record record = after(over(100), "port_rcv_errors", 9, 3);
  EXPECT_THAT(told(record), ElementsAre("gate.sample_unusable inconclusive"));
  EXPECT_THAT(record.reason, HasSubstr("port_rcv_errors ran backwards (9 to 3)"));
}

TEST(LinkRdmaCounters, CountersThatAreMissingWhereTheyMustBeAreNoEvidence) {
  const std::vector<std::pair<const char*, std::function<void(fabric::RdmaSample&)>>> rows{
      {"none", [](auto& s) { s.now.port.counters.clear(); }},
      {"one of an InfiniBand port", [](auto& s) { s.now.port.counters.erase("symbol_error"); s.before->port.counters.erase("symbol_error"); }},
      {"read once", [](auto& s) { s.before->port.counters.erase("port_rcv_errors"); }},
      {"another device", [](auto& s) { s.before->port.node_guid = "0200:5e00:5300:0009"; }},
      {"no start", [](auto& s) { s.before.reset(); }},
      {"absent at the start", [](auto& s) { s.before->present = false; }},
      {"no time between", [](auto& s) { s.now.read_unix_s = s.before->read_unix_s; }}};
  for (const auto& [what, change] : rows) {
    RdmaCase one = over(100);
    change(one.sample);
    EXPECT_THAT(told(one.judged_as("link.rdma_counters")), ElementsAre("gate.sample_unusable inconclusive")) << what;
  }
}

TEST(LinkRdmaCounters, SoftRdmaCountsNoSymbolErrorsAndThatIsNamed) {
  RdmaCase one = over(100, "ethernet");
  for (RdmaState* state : {&*one.sample.before, &one.sample.now}) {
    state->software = true;
    state->port.counters = {{"link_downed", 0}, {"sent_pkts", 7}};
  }
  auto spec = std::make_shared<NodeClass>(*one.inventory.nodes[0].spec);
  spec->emulated = true;
  one.inventory.nodes[0].spec = spec;
  const Record record = one.judged_as("link.rdma_counters");
  EXPECT_EQ(record.verdict, Verdict::pass);
  EXPECT_THAT(record.reason, HasSubstr("symbol_error"));
}

TEST(LinkRdmaCounters, APortThatWentDownDuringTheRunIsToldByItsState) {
  RdmaCase one = over(100);
  one.sample.now.port.state = "DOWN";
  one.sample.now.port.phys_state = "Polling";
  EXPECT_THAT(told(one.judged_as("link.rdma_counters")), ElementsAre("link.polling fail"));
  one.sample.now.present = false;
  EXPECT_THAT(told(one.judged_as("link.rdma_counters")), ElementsAre("rdma.device_elsewhere fail"));
}

}  // namespace
}  // namespace fabricgate::suites
