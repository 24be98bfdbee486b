// HDF5's error stack, reduced to the one message that says most.
#include "datasets/hdf5_handle.hpp"

#include <fmt/format.h>

#include "datasets/errors.hpp"

namespace parity::hdf5 {
namespace {

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* message) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(message) = error->desc;
  return 0;
}

std::string innermost_message() {
  std::string message = "HDF5 does not say why";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &message);
  H5Eclear2(H5E_DEFAULT);
  return message;
}

}  // namespace

Failures::Failures(std::filesystem::path file, std::string action, std::string advice)
    : file_(std::move(file)), action_(std::move(action)), advice_(std::move(advice)) {}

void Failures::raise(std::string_view what) const {
  throw DatasetError(
      fmt::format("pack '{}' cannot be {}: {}; {}", file_.string(), action_, what, advice_));
}

void Failures::raise_hdf5(std::string_view what) const {
  raise(fmt::format("{}: {}", what, innermost_message()));
}

void silence() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace parity::hdf5
