// Which cells of which carriers the current run read and wrote, and who wrote them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

struct CellTouch {
  std::string carrier;    ///< "module_cache"
  std::string cell;       ///< canonical text of the key in force
  bool wrote = false;     ///< this run made the entry
  std::string built_for;  ///< what the entry was made for: "q=f32,k=f16,v=f16"
  std::string used_for;   ///< what this run needed
  std::string writer;     ///< label of the run that made the entry

  bool operator==(const CellTouch&) const = default;
};

/// One host thread's, owned by the runtime; the harness begins a run under a label, launches, and
/// takes what was touched.
class Trace {
 public:
  void begin(std::string label) {
    label_ = std::move(label);
    touches_.clear();
  }
  const std::string& label() const { return label_; }
  void add(CellTouch touch) { touches_.push_back(std::move(touch)); }
  /// Whether this run has made the entry.
  bool wrote(std::string_view carrier, std::string_view cell) const {
    return std::ranges::any_of(touches_, [&](const CellTouch& touch) {
      return touch.wrote && touch.carrier == carrier && touch.cell == cell;
    });
  }
  std::vector<CellTouch> take() { return std::exchange(touches_, {}); }

 private:
  std::string label_;
  std::vector<CellTouch> touches_;
};

}  // namespace parity
