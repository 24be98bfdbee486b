// HDF5 identifiers that close themselves, and its errors as DatasetError. Private to the pack's
// sources.
#pragma once

#include <hdf5.h>

#include <concepts>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace parity::hdf5 {

template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }

  void reset() noexcept {
    if (id_ >= 0) Close(release());
  }
  hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Attribute = Handle<H5Aclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Properties = Handle<H5Pclose>;

/// Says in one line what went wrong with one file.
class Failures {
 public:
  /// `action` completes "pack '...' cannot be ...". `advice` ends the message.
  Failures(std::filesystem::path file, std::string action, std::string advice);

  const std::filesystem::path& file() const { return file_; }

  /// Throws DatasetError.
  [[noreturn]] void raise(std::string_view what) const;

  /// `result` unless it is negative: then throws DatasetError with HDF5's innermost message.
  template <std::signed_integral Result>
  Result check(Result result, std::string_view what) const {
    if (result < 0) raise_hdf5(what);
    return result;
  }

 private:
  [[noreturn]] void raise_hdf5(std::string_view what) const;

  std::filesystem::path file_;
  std::string action_;
  std::string advice_;
};

/// Stops HDF5 from printing its own error stacks: they are in our messages.
void silence();

}  // namespace parity::hdf5
