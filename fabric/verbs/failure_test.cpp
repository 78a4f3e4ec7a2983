#include "fabric/verbs/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <map>

#include "fabric/verbs/completions.hpp"
#include "fabric/verbs/returns.hpp"
#include "results/cause.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

TEST(VerbsFailures, EveryCompletionStatusHasItsCause) {
  const std::map<ibv_wc_status, std::string> expected{{IBV_WC_SUCCESS, ""},
                                                      {IBV_WC_LOC_LEN_ERR, "mtu.peer_mismatch"},
                                                      {IBV_WC_LOC_QP_OP_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_LOC_EEC_OP_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_LOC_PROT_ERR, "rdma.local_protection"},
                                                      {IBV_WC_WR_FLUSH_ERR, "rdma.flush_only"},
                                                      {IBV_WC_MW_BIND_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_BAD_RESP_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_LOC_ACCESS_ERR, "rdma.local_protection"},
                                                      {IBV_WC_REM_INV_REQ_ERR, "rdma.request_invalid"},
                                                      {IBV_WC_REM_ACCESS_ERR, "rdma.remote_access"},
                                                      {IBV_WC_REM_OP_ERR, "rdma.remote_fault"},
                                                      {IBV_WC_RETRY_EXC_ERR, "rdma.not_acknowledged"},
                                                      {IBV_WC_RNR_RETRY_EXC_ERR, "rdma.receiver_not_ready"},
                                                      {IBV_WC_LOC_RDD_VIOL_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_REM_INV_RD_REQ_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_REM_ABORT_ERR, "rdma.remote_fault"},
                                                      {IBV_WC_INV_EECN_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_INV_EEC_STATE_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_FATAL_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_RESP_TIMEOUT_ERR, "rdma.not_acknowledged"},
                                                      {IBV_WC_GENERAL_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_TM_ERR, "rdma.adapter_fault"},
                                                      {IBV_WC_TM_RNDV_INCOMPLETE, "rdma.adapter_fault"}};
  for (int value = IBV_WC_SUCCESS; value <= IBV_WC_TM_RNDV_INCOMPLETE; ++value) {
    const auto status = static_cast<ibv_wc_status>(value);
    ASSERT_EQ(expected.count(status), 1u) << value;
    EXPECT_EQ(cause_of(status), expected.at(status)) << value;
    EXPECT_EQ(status == IBV_WC_SUCCESS, find_cause(cause_of(status)) == nullptr) << value;
  }
  EXPECT_EQ(cause_of(static_cast<ibv_wc_status>(31)), "rdma.adapter_fault");
}

TEST(VerbsFailures, EveryCallHasACauseForEveryErrno) {
  for (int call = 0; call <= static_cast<int>(VerbsCall::poll_cq); ++call)
    for (const int code : {EPERM, ENOENT, EIO, EAGAIN, ENOMEM, EACCES, EFAULT, EINVAL, ENODEV, ENETUNREACH,
                           EHOSTUNREACH, ETIMEDOUT, EOPNOTSUPP})
      EXPECT_NE(find_cause(cause_of(static_cast<VerbsCall>(call), code)), nullptr) << call << " " << code;
}

TEST(VerbsFailures, WhatASiteGetsWrongIsToldApart) {
  EXPECT_EQ(cause_of(VerbsCall::open_device, EACCES), "rdma.device_denied");
  EXPECT_EQ(cause_of(VerbsCall::query_gid, ENOENT), "gid.index_absent");
  EXPECT_EQ(cause_of(VerbsCall::to_rtr, ETIMEDOUT), "rdma.peer_unresolved");
  EXPECT_EQ(cause_of(VerbsCall::to_rtr, ENETUNREACH), "rdma.route_absent");
  EXPECT_EQ(cause_of(VerbsCall::to_rtr, ENODEV), "gid.index_absent");
  EXPECT_EQ(cause_of(VerbsCall::to_rtr, EINVAL), "rdma.qp_setup_failed");
  EXPECT_EQ(cause_of(VerbsCall::create_qp, EINVAL), "rdma.adapter_limit");
  EXPECT_EQ(cause_of(VerbsCall::to_rts, EIO), "rdma.call_failed");
}

TEST(VerbsFailures, MemoryThatCannotBeLockedIsTheLimitsFaultOnlyWhereThereIsALimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
  rlimit low = before;
  low.rlim_cur = 1 << 16;
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &low), 0);
  EXPECT_EQ(cause_of(VerbsCall::reg_mr, ENOMEM), "rdma.memlock_limit");
  EXPECT_EQ(cause_of(VerbsCall::create_cq, ENOMEM), "rdma.memlock_limit");
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
  const bool limited = before.rlim_cur != RLIM_INFINITY;
  EXPECT_EQ(cause_of(VerbsCall::reg_mr, ENOMEM), limited ? "rdma.memlock_limit" : "rdma.resource_limit");
}

TEST(VerbsFailures, AMessageNamesCallObjectAndCode) {
  const auto failure = call_failure(VerbsCall::to_rtr, "device mlx5_0, port 1, qp 0x1a2", ETIMEDOUT);
  EXPECT_EQ(failure.native, ETIMEDOUT);
  EXPECT_THAT(failure.what,
              HasSubstr("ibv_modify_qp to RTR, device mlx5_0, port 1, qp 0x1a2: Connection timed out (110)"));
}

TEST(VerbsReturns, EachConventionIsLookedAtInItsOwnWay) {
  EXPECT_FALSE(check_errno_result(VerbsCall::to_init, "x", 0));
  EXPECT_EQ(check_errno_result(VerbsCall::to_init, "x", EINVAL)->native, EINVAL);  // positive: "< 0" would miss it
  const int there = 1;
  EXPECT_FALSE(check_pointer(VerbsCall::reg_mr, "x", &there));
  errno = EFAULT;
  EXPECT_EQ(check_pointer<int>(VerbsCall::reg_mr, "x", nullptr)->native, EFAULT);
  errno = 0;
  EXPECT_EQ(check_pointer<int>(VerbsCall::reg_mr, "x", nullptr)->native, EIO);
  EXPECT_FALSE(check_minus_one(VerbsCall::query_gid, "x", 3));
  errno = ENOENT;
  EXPECT_EQ(check_minus_one(VerbsCall::query_gid, "x", -1)->native, ENOENT);
}

ibv_wc bad(ibv_wc_status status, std::uint64_t id) {
  ibv_wc wc{};
  wc.status = status;
  wc.wr_id = id;
  return wc;
}

TEST(BadCompletions, TheFirstThatIsNoFlushCountsAlsoAfterFlushes) {
  BadCompletions completions;
  completions.take(bad(IBV_WC_SUCCESS, 0));
  EXPECT_TRUE(completions.none());
  for (const auto status : {IBV_WC_WR_FLUSH_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR})
    completions.take(bad(status, 7));
  EXPECT_EQ(completions.first().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(completions.echoes(), 2u);
}

TEST(BadCompletions, FlushesAloneAreToldAsSuch) {
  BadCompletions completions;
  completions.take(bad(IBV_WC_WR_FLUSH_ERR, 1));
  completions.take(bad(IBV_WC_WR_FLUSH_ERR, 2));
  EXPECT_EQ(completions.first().wr_id, 1u);
  EXPECT_EQ(completions.echoes(), 1u);
}

TEST(VerbsFailures, OfTwoEndsTheOneThatOnlyFollowsGivesWay) {
  const VerbsFailure none{}, refused{.host = "a", .cause = "rdma.remote_access"},
      flushed{.host = "b", .cause = "rdma.flush_only"}, stalled{.host = "b", .cause = "rdma.stalled"};
  EXPECT_EQ(first_of(flushed, refused), refused);
  EXPECT_EQ(first_of(refused, stalled), refused);
  EXPECT_EQ(first_of(none, flushed), flushed);
  EXPECT_EQ(first_of(flushed, stalled), stalled);
  EXPECT_EQ(first_of(none, none), none);
  EXPECT_EQ(first_of(VerbsFailure{.host = "b", .cause = "rdma.not_acknowledged"}, refused), refused);
  EXPECT_EQ(first_of(refused, VerbsFailure{.host = "b", .cause = "rdma.local_protection"}), refused);
}

}  // namespace
}  // namespace fabricgate::fabric
