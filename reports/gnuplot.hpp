// gnuplot as a child process: a script in, one SVG out, or the reason why there is none.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace parity {

class Gnuplot {
 public:
  /// `limit`: of one plot.
  explicit Gnuplot(std::chrono::milliseconds limit = std::chrono::seconds(20)) : limit_(limit) {}

  /// What gnuplot writes for `script`. Nothing when it is not in PATH, fails or does not end in
  /// time; it is then not asked again, and missing() says why. Throws nothing for any of these.
  std::optional<std::string> draw(const std::string& script);

  /// One line; empty while nothing has failed.
  const std::string& missing() const { return missing_; }

 private:
  std::chrono::milliseconds limit_;
  std::string missing_;
};

}  // namespace parity
