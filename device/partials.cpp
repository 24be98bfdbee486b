// Partial outputs first, then their log-sum-exps.
#include "device/partials.hpp"

#include <fmt/format.h>

#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr std::int64_t kFloatBytes = 4;

}  // namespace

Partials Partials::in(std::string_view who, const DeviceTensor& workspace, std::int64_t chunks,
                      const Shape& q) {
  if (workspace.type.dtype != Dtype::u8 || workspace.type.shape.size() != 1)
    throw UsageError(
        fmt::format("{}: workspace is {}, but must be u8[bytes]", who, workspace.type.to_string()));
  const std::int64_t needed = bytes(chunks, q[1], q[2]);
  if (workspace.type.elements() < needed)
    throw UsageError(fmt::format(
        "{}: workspace has {} bytes, but {} are needed: {} chunks · {} heads · ({} + 1) · 4", who,
        workspace.type.elements(), needed, chunks, q[1], q[2]));
  check_memory(who, "workspace", workspace, 16);
  const TensorType out{Dtype::f32, {chunks, q[1], q[2]}};
  return {{out, workspace.data},
          {{Dtype::f32, {chunks, q[1]}}, static_cast<std::byte*>(workspace.data) + out.bytes()}};
}

HeldPartials HeldPartials::in(Runtime& runtime, const std::string& kernel,
                              const DeviceTensor& given, std::int64_t chunks, const Shape& q,
                              const std::vector<ArgumentMemory>& arguments) {
  if (given.data != nullptr) {
    check_apart(kernel, {ArgumentMemory::of("workspace", given)}, arguments);
    return {Partials::in(kernel, given, chunks, q), {}};
  }
  const auto bytes = static_cast<std::size_t>(Partials::bytes(chunks, q[1], q[2]));
  WorkspaceLease lease = runtime.lease_workspace({kernel, "partials"}, bytes);
  const Partials partials = Partials::in(kernel, lease.memory, chunks, q);
  return {partials, std::move(lease)};
}

std::int64_t Partials::bytes(std::int64_t chunks, std::int64_t heads, std::int64_t head_dim) {
  return chunks * heads * (head_dim + 1) * kFloatBytes;
}

}  // namespace parity
