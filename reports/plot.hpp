// The plots of a report as values, as scripts for gnuplot, and as SVG inside a page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

/// Points of positive values on a logarithmic axis, one line a label. Values that are not finite
/// stand at the right border with a mark of their own; zeros stand at the left one.
struct RowPlot {
  std::string name;  ///< letters, digits and '-'; unique on the page
  std::string axis;  ///< what the values are
  std::vector<std::pair<std::string, std::vector<double>>> rows;  ///< from the top
  bool bounded = false;  ///< a line at 1, above which a value is a fault
};

/// Points over ticks of equal distance, on a logarithmic axis; each series is joined at the largest
/// value of every tick.
struct SeriesPlot {
  std::string name;
  std::string across;
  std::string axis;
  std::vector<std::string> ticks;
  /// Label, and (tick, value) of each point.
  std::vector<std::pair<std::string, std::vector<std::pair<std::size_t, double>>>> series;
};

/// Squares at (row, column), the darker the larger their share.
struct HeatMap {
  struct Square {
    std::size_t row = 0;
    std::size_t column = 0;
    double share = 0;  ///< 0 to 1
  };
  std::string name;
  std::string down;
  std::string across;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<Square> squares;
};

/// What gnuplot is given. Fixed sizes, no time, no enhanced text; whatever labels hold, they are
/// nothing but text in it. Byte-equal for equal plots.
std::string plot_script(const RowPlot& plot);
std::string plot_script(const SeriesPlot& plot);
std::string plot_script(const HeatMap& plot);

/// Markup for a page from what gnuplot wrote: ids begin with `name`, colours are the page's
/// (--plot-1 and so on, and its text colour), and a screen reader gets title and description.
/// Nothing where `svg` is none, or holds what no plot of ours does (scripts, styles, images).
std::optional<std::string> plot_markup(std::string_view svg, std::string_view name,
                                       std::string_view title, std::string_view description);

}  // namespace parity
