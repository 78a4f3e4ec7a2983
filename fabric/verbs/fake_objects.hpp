#pragma once
/// What the fake device is made of; for fake_verbs.cpp (the calls) and fake_carrier.cpp (messages) alone.
#include <deque>
#include <mutex>

#include "fabric/verbs/fake_verbs.hpp"

namespace fabricgate::fabric::fake {

struct FakeContext : ibv_context {
  FakeDevice* fake = nullptr;
  int children = 0;
};

struct FakePd : ibv_pd {
  int children = 0;
};

struct FakeCq : ibv_cq {
  std::deque<std::pair<ibv_wc, std::uint64_t>> entries;  ///< and how many sends each retires
  int users = 0;
};

struct Request {
  ibv_send_wr wr;
  std::vector<std::byte> in_line;
  ibv_sge sge;
};

struct FakeQp : ibv_qp {
  std::uint32_t peer = 0, max_send = 0, max_receive = 0, most_inline = 0;
  std::deque<Request> sends;
  std::deque<ibv_recv_wr> receives;
  std::deque<ibv_sge> receive_sges;
  std::uint64_t unretired = 0, unsignaled = 0;

  FakeCq& send_queue() { return static_cast<FakeCq&>(*send_cq); }
  FakeCq& receive_queue() { return static_cast<FakeCq&>(*recv_cq); }
};

inline std::mutex mutex;  ///< guards everything here
inline std::map<std::uint32_t, FakeQp*> qps;
inline std::map<std::uint32_t, ibv_mr*> regions;  ///< by either key
inline std::uint32_t last_number = 0x100;

/// True, with errno set, when the test wants this call to fail.
bool fails(VerbsCall call);
/// Notes that the engine did what no adapter would let it do; returns `code`.
int misuse(const std::string& what, int code);

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);
int poll(ibv_cq* cq, int most, ibv_wc* wc);

}  // namespace fabricgate::fabric::fake
