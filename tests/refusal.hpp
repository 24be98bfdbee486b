// What a wrong call is refused with.
#pragma once

#include <functional>
#include <string>

#include "datasets/errors.hpp"

namespace parity {

/// The words of the UsageError that `action` throws; "accepted" where it throws none.
inline std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace parity
