// Lines of the worker protocol, both ways, and whatever another program may send instead.
#include "harness/protocol.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/carrier_state.hpp"

namespace parity {
namespace {

Outcome sample_outcome() {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.plan = "v1 bucket=4";
  outcome.timed_plan = true;
  outcome.outputs = {{"out", digest("a")}, {"lse", digest("b")}};
  outcome.unwritten = 3;
  outcome.broken_guards = {"out"};
  outcome.changed_inputs = {"q", "k_pages"};
  outcome.cells = {{"module_cache", "k<D=64>", true, "q=f32", "q=f16", "k/q=f32/d=64/short"}};
  outcome.milliseconds = 1.5;
  return outcome;
}

const std::string kRunLine =
    R"({"ok":true,"status":"ok","outputs":[{"name":"out","digest":"00000000000000000000000000000001"}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Neither text parses as a request, a hello reply or an answer to a run.
const std::vector<std::string>& nonsense() {
  static const std::vector<std::string> lines = {"",
                                                 "what?",
                                                 "{",
                                                 "[]",
                                                 "null",
                                                 "3",
                                                 "\"ok\"",
                                                 "{}",
                                                 R"({"ok":1})",
                                                 R"({"ok":"true"})",
                                                 R"({"ok":null})",
                                                 R"({"op":7})",
                                                 R"({"op":"dance"})",
                                                 R"({"op":["run"]})",
                                                 "{\"ok\":tr",
                                                 R"({"ok":true} {"ok":true})",
                                                 std::string("\0\1\xff\xfe", 4),
                                                 R"({"ok":true,"x":1e999})",
                                                 std::string(1 << 20, '['),
                                                 std::string(1 << 20, '{'),
                                                 R"({"ok":false})",
                                                 R"({"ok":false,"error":3})"};
  return lines;
}

TEST(ProtocolTest, RequestsSurviveTheWay) {
  const Hello hello = {"/p a\"ck.h5", "/blobs",  "/modules", "host", {"drift", "weak_module_key"},
                       "/spare",      "measure", "/plans"};
  const Request greeted = parse_request(hello_request(hello));
  EXPECT_EQ(greeted.op, "hello");
  EXPECT_EQ(greeted.hello.pack, hello.pack);
  EXPECT_EQ(greeted.hello.blobs, hello.blobs);
  EXPECT_EQ(greeted.hello.modules, hello.modules);
  EXPECT_EQ(greeted.hello.backend, hello.backend);
  EXPECT_EQ(greeted.hello.plants, hello.plants);
  EXPECT_EQ(greeted.hello.spare_modules, hello.spare_modules);
  EXPECT_EQ(greeted.hello.autotune, hello.autotune);
  EXPECT_EQ(greeted.hello.autotune_file, hello.autotune_file);
  EXPECT_EQ(parse_request(hello_request({"p", "b", "m", "host", {}})).hello.autotune, "recorded");
  EXPECT_EQ(parse_request(run_request("k/id", 1)).poison, 1u);
  EXPECT_EQ(parse_request(run_request("k/id", 1)).id, "k/id");
  EXPECT_EQ(parse_request(describe_request("k/id")).op, "describe");
  EXPECT_EQ(parse_request(prepare_request("k/id")).id, "k/id");
  EXPECT_EQ(parse_request(restore_request("memo")).carrier, "memo");
  EXPECT_EQ(parse_request(snapshot_request("memo")).op, "snapshot");
  EXPECT_EQ(parse_request(set_request("memo", "{\"a\":\n1}")).state, "{\"a\":\n1}");
  EXPECT_EQ(parse_request(bye_request()).op, "bye");
}

TEST(ProtocolTest, AnOutcomeSurvivesTheWay) {
  const Outcome want = sample_outcome();
  const Outcome got = parse_run_reply(run_reply(want));
  EXPECT_EQ(got.status, want.status);
  EXPECT_EQ(got.detail, want.detail);
  EXPECT_EQ(got.plan, want.plan);
  EXPECT_EQ(got.timed_plan, want.timed_plan);
  EXPECT_EQ(got.outputs, want.outputs);
  EXPECT_EQ(got.unwritten, want.unwritten);
  EXPECT_EQ(got.broken_guards, want.broken_guards);
  EXPECT_EQ(got.changed_inputs, want.changed_inputs);
  EXPECT_EQ(got.cells, want.cells);
  EXPECT_EQ(got.milliseconds, want.milliseconds);
}

TEST(ProtocolTest, CasesTogetherSurviveTheWay) {
  const Request request = parse_request(together_request({{"k/a", 1}, {"k/b", 0}}));
  ASSERT_EQ(request.runs.size(), 2u);
  EXPECT_EQ(request.runs[0].id, "k/a");
  EXPECT_EQ(request.runs[0].poison, 1u);
  EXPECT_EQ(request.runs[1].id, "k/b");
  Outcome refused;
  refused.status = Status::error;
  refused.detail = "no";
  const auto got = parse_together_reply(together_reply({sample_outcome(), refused}), 2);
  EXPECT_EQ(got[0].outputs, sample_outcome().outputs);
  EXPECT_EQ(got[1].status, Status::error);
  EXPECT_EQ(got[1].detail, "no");
}

TEST(ProtocolTest, WhatIsWrongWithAGroupIsTheOutcomeOfEach) {
  const std::string one = together_reply({sample_outcome()});
  for (const std::string& line : {one, std::string("what?"), std::string(R"({"ok":true})"),
                                  std::string(R"({"ok":true,"outcomes":[1,2]})")}) {
    const std::vector<Outcome> outcomes = parse_together_reply(line, 2);
    ASSERT_EQ(outcomes.size(), 2u) << line;
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::crashed) << line;
  }
  EXPECT_EQ(parse_together_reply(failure_reply("no pack"), 2)[1].status, Status::error);
  // Of one case only, the worker may say no in the way of `run`.
  const auto mixed =
      parse_together_reply(R"({"ok":true,"outcomes":[{"ok":false,"error":"no"}]})", 1);
  EXPECT_EQ(mixed[0].status, Status::error);
  EXPECT_EQ(mixed[0].detail, "no");
  for (const char* line : {R"({"op":"together"})", R"({"op":"together","runs":[]})",
                           R"({"op":"together","runs":[{"id":"a","poison":2}]})"})
    EXPECT_THROW(parse_request(line), UsageError) << line;
}

TEST(ProtocolTest, AHelloReplySurvivesTheWay) {
  const HelloReply want = {
      "w", "cuda", "NVIDIA H200", "sm_90a", "580", {"a", "b"}, {{"p"}, {"r"}, {"s"}, {"n", "m"}}};
  const HelloReply got = parse_hello_reply(hello_reply(want));
  EXPECT_EQ(hello_reply(got), hello_reply(want));
  EXPECT_EQ(got.device_arch, "sm_90a");
  EXPECT_EQ(got.carriers.not_probed, want.carriers.not_probed);
  EXPECT_FALSE(got.threads) << "a worker that says nothing runs one case at a time";
}

TEST(ProtocolTest, EqualValuesGiveEqualLinesInAFixedOrder) {
  EXPECT_EQ(run_reply(sample_outcome()), run_reply(sample_outcome()));
  EXPECT_EQ(run_request("a", 0), R"({"op":"run","id":"a","poison":0})");
  EXPECT_EQ(failure_reply("a\nb"), R"({"ok":false,"error":"a b"})");
}

TEST(ProtocolTest, EveryLineIsOneLine) {
  Outcome outcome = sample_outcome();
  outcome.plan = "two\nlines";
  outcome.detail = "and\r\nmore\xff";
  for (const std::string& line :
       {run_reply(outcome), failure_reply("a\nb\n"), snapshot_reply("a\nb"),
        set_request("c", "a\nb"), run_request("a\nb", 0), hello_reply({}),
        describe_reply({{"a\nb", "c"}})}) {
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(ProtocolTest, NumbersThatAreNotFiniteAreTexts) {
  Outcome outcome = sample_outcome();
  outcome.milliseconds = std::numeric_limits<double>::infinity();
  EXPECT_NE(run_reply(outcome).find(R"("ms":"inf")"), std::string::npos);
  EXPECT_EQ(parse_run_reply(run_reply(outcome)).milliseconds, outcome.milliseconds);
  outcome.milliseconds = std::nan("");
  EXPECT_TRUE(std::isnan(parse_run_reply(run_reply(outcome)).milliseconds));
}

TEST(ProtocolTest, AForeignWorkerMayLeaveOutWhatItCannotTell) {
  const Outcome outcome = parse_run_reply(kRunLine);
  EXPECT_EQ(outcome.status, Status::ok);
  EXPECT_EQ(outcome.outputs.at(0).digest.low, 1u);
  EXPECT_EQ(outcome.unwritten, 0);
  EXPECT_EQ(parse_run_reply(replaced(kRunLine, "{", R"({"novel":[1,{"a":2}],)")).status,
            Status::ok);
}

TEST(ProtocolTest, NonsenseIsAClearErrorEverywhere) {
  for (const std::string& line : nonsense()) {
    EXPECT_THROW(parse_request(line), UsageError) << line.substr(0, 60);
    EXPECT_THROW(parse_hello_reply(line), DeviceError) << line.substr(0, 60);
    const Outcome outcome = parse_run_reply(line);
    EXPECT_EQ(outcome.status, Status::crashed) << line.substr(0, 60);
    EXPECT_TRUE(outcome.detail.starts_with("the worker wrote nonsense: ")) << outcome.detail;
    EXPECT_LT(outcome.detail.size(), 200u);
    EXPECT_EQ(parse_done_reply(line).status, Status::crashed);
    EXPECT_EQ(parse_snapshot_reply(line).outcome.status, Status::crashed);
  }
}

TEST(ProtocolTest, AFieldOfTheWrongTypeIsNonsense) {
  const std::string whole = run_reply(sample_outcome());
  const std::vector<std::pair<std::string, std::string>> edits = {
      {R"("status":"ok")", R"("status":"crashed")"},
      {R"("status":"ok")", R"("status":0)"},
      {R"("status":"ok",)", ""},
      {R"("plan":"v1 bucket=4")", R"("plan":{})"},
      {R"("unwritten":3)", R"("unwritten":-1)"},
      {R"("unwritten":3)", R"("unwritten":0.5)"},
      {R"("unwritten":3)", R"("unwritten":18446744073709551615)"},
      {R"("broken_guards":["out"])", R"("broken_guards":"out")"},
      {R"("changed_inputs":["q",)", R"("changed_inputs":[1,)"},
      {R"("ms":1.5)", R"("ms":"fast")"},
      {R"("name":"out")", R"("title":"out")"},
      {digest("a").hex(), "0123"},
      {digest("a").hex(), std::string(32, 'G')},
      {R"("wrote":true)", R"("wrote":1)"},
      {R"("cells":[{)", R"("cells":[7,{)"}};
  for (const auto& [from, to] : edits) {
    EXPECT_EQ(parse_run_reply(replaced(whole, from, to)).status, Status::crashed) << to;
  }
  EXPECT_THROW(parse_request(R"({"op":"run","id":"a","poison":2})"), UsageError);
  EXPECT_THROW(parse_request(R"({"op":"run","id":3})"), UsageError);
  EXPECT_THROW(parse_request(R"({"op":"set","carrier":"a"})"), UsageError);
}

TEST(ProtocolTest, AnotherVersionIsRefusedByBothSides) {
  const std::string greeting = hello_request({"p", "b", "m", "host", {}});
  EXPECT_THROW(parse_request(replaced(greeting, R"("backend")", R"("autotune":"now","backend")")),
               UsageError);
  EXPECT_THROW(parse_request(replaced(greeting, R"("protocol":1)", R"("protocol":2)")), UsageError);
  EXPECT_THROW(parse_request(replaced(greeting, "host", "vulkan")), UsageError);
  EXPECT_THROW(parse_hello_reply(replaced(hello_reply({}), R"("protocol":1)", R"("protocol":2)")),
               DeviceError);
}

TEST(ProtocolTest, AFalseReplyCarriesTheWorkersWords) {
  const std::string line = failure_reply("no such case");
  EXPECT_EQ(parse_run_reply(line).status, Status::error);
  EXPECT_EQ(parse_run_reply(line).detail, "no such case");
  EXPECT_EQ(parse_done_reply(line).status, Status::error);
  EXPECT_EQ(parse_snapshot_reply(line).outcome.detail, "no such case");
  try {
    parse_describe_reply(line);
    FAIL() << "accepted";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("no such case"), std::string::npos);
  }
}

TEST(ProtocolTest, CarrierStateSurvivesTheWayAndNonsenseIsRefused) {
  const std::vector<CarrierCell> cells = {{"k<D=64>", "k<D=64>(q=f32)"}, {"\"", "\n"}};
  EXPECT_EQ(parse_carrier_state(carrier_state_text(cells)), cells);
  EXPECT_TRUE(parse_carrier_state(carrier_state_text({})).empty());
  for (const std::string& text : nonsense()) {
    EXPECT_THROW(parse_carrier_state(text), UsageError) << text.substr(0, 60);
  }
}

/// Parses the reply to a request of `op`; the reason why it is not one, else "".
std::string refusal(const std::string& op, const std::string& line) {
  if (line.starts_with(R"({"ok":false)")) {
    const Outcome outcome = parse_done_reply(line);
    return outcome.status == Status::error ? "" : outcome.detail;
  }
  if (op == "hello") return parse_hello_reply(line).worker.empty() ? "no worker" : "";
  if (op == "describe") return parse_describe_reply(line).empty() ? "no modules" : "";
  Outcome outcome = parse_done_reply(line);
  if (op == "prepare") outcome = parse_prepare_reply(line).outcome;
  if (op == "run") outcome = parse_run_reply(line);
  if (op == "together") outcome = parse_together_reply(line, 2).at(0);
  if (op == "snapshot") outcome = parse_snapshot_reply(line).outcome;
  const bool answered = outcome.status == Status::ok || outcome.status == Status::unsupported;
  return answered ? "" : outcome.detail;
}

TEST(ProtocolTest, EveryExampleInTheDocumentParses) {
  std::ifstream document(PARITY_SOURCE_DIR "/harness/PROTOCOL.md");
  ASSERT_TRUE(document);
  std::set<std::string> requested;
  std::set<std::string> answered;
  std::string op;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("> ")) {
      op = parse_request(line.substr(2)).op;
      requested.insert(op);
    } else if (line.starts_with("< ")) {
      EXPECT_EQ(refusal(op, line.substr(2)), "") << line;
      answered.insert(op);
    }
  }
  const std::set<std::string> all = {"hello",   "describe", "prepare", "run", "together",
                                     "restore", "snapshot", "set",     "bye"};
  EXPECT_EQ(requested, all);
  EXPECT_EQ(answered, all);
}

}  // namespace
}  // namespace parity
