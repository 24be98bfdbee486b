// Stale partials, as a kernel would leave them that takes its workspace for cleared.
#include "device/planted_split.hpp"

#include "device/runtime.hpp"

namespace parity {

PlantedSplit::PlantedSplit(Runtime& runtime, const SplitPlan& split,
                           const std::vector<std::int32_t>& page_indptr, const DeviceTensor& out,
                           const DeviceTensor& lse)
    : backend_(runtime.backend()) {
  if (!runtime.faults().dirty_workspace || out.data == nullptr) return;
  for (std::size_t row = 0; row + 1 < page_indptr.size(); ++row) {
    if (page_indptr[row] != page_indptr[row + 1]) continue;
    keep(out, split.o_indptr[row]);
    keep(lse, split.o_indptr[row]);
  }
}

void PlantedSplit::keep(const DeviceTensor& tensor, std::int32_t chunk) {
  const std::size_t bytes =
      tensor.type.bytes() / static_cast<std::size_t>(tensor.type.shape.front());
  auto* const at = static_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(chunk) * bytes;
  kept_.push_back({at, std::vector<std::byte>(bytes)});
  backend_.copy_out(kept_.back().bytes, at);
}

void PlantedSplit::after_partials() const {
  if (kept_.empty()) return;
  backend_.synchronize();
  for (const Kept& kept : kept_) backend_.copy_in(kept.at, kept.bytes);
}

}  // namespace parity
