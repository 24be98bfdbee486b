// Scripts for gnuplot. Colours stand for places in the page's palette: #0100NN is --plot-NN.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/plot.hpp"

namespace parity {
namespace {

constexpr int kWidth = 1200;          ///< units of the SVG; about the pixels of a page's column
constexpr double kLetter = 6.7;       ///< width of a letter of the monospaced labels, at most
constexpr std::size_t kLongest = 64;  ///< letters of a label
constexpr int kRow = 17;
constexpr int kAxis = 54;  ///< below the plot: ticks and what they are

/// As text between single quotes, in which gnuplot replaces nothing but, in labels of ticks,
/// formats like %g.
std::string in_quotes(std::string_view label) {
  constexpr std::string_view kPlain = " _=,./+-:()[]*";
  std::string text;
  for (const char c : label.substr(0, kLongest)) {
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    text += letter || kPlain.find(c) != std::string_view::npos ? c : '~';
  }
  if (label.size() > kLongest) text.replace(kLongest - 2, 2, "..");
  return "'" + text + "'";
}

std::size_t longest(const std::vector<std::string>& labels) {
  std::size_t letters = 0;
  for (const std::string& label : labels) letters = std::max(letters, label.size());
  return std::min(letters, kLongest);
}

/// Terminal and margins, all in units of the SVG.
std::string opening(int width, int height, double left, double right, double top, double bottom) {
  return fmt::format(
      "set terminal svg size {0},{1} dynamic noenhanced font 'monospace,11' linewidth 1\n"
      "set lmargin at screen {2:.5f}\nset rmargin at screen {3:.5f}\n"
      "set tmargin at screen {4:.5f}\nset bmargin at screen {5:.5f}\n"
      "unset key\nset border 0\nset tics scale 0\nset style fill solid noborder\n",
      width, height, left / width, (width - right) / width, (height - top) / height,
      bottom / height);
}

/// Where values lie on a logarithmic axis: whole decades around those that are positive and finite,
/// a free one at each end for those that are not.
struct Decades {
  int first = -1;
  int last = 1;
  bool any = false;
  bool zeros = false;
  bool odd = false;  ///< not finite

  void hold(double value) {
    zeros = zeros || value == 0;
    odd = odd || !std::isfinite(value);
    if (!(value > 0) || !std::isfinite(value)) return;
    const int below = static_cast<int>(std::floor(std::log10(value)));
    const int above = static_cast<int>(std::ceil(std::log10(value)));
    first = any ? std::min(first, below) : below;
    last = any ? std::max(last, above) : above;
    any = true;
  }
  double least() const { return std::pow(10.0, first - 0.5); }
  double most() const { return std::pow(10.0, last + 0.5); }
  double place(double value) const {
    if (std::isnan(value) || value >= most()) return std::pow(10.0, last + 0.4);
    return value > 0 ? value : std::pow(10.0, first - 0.4);
  }
  /// Eight labels of decades at most, those near 1 as people write them; and of the ends in use.
  std::string ticks() const {
    const int step = (last - first) / 8 + 1;
    std::string text;
    // Where the ends have labels, those beside them would stand in their way.
    const int begin = zeros && last - first > 5 ? first + 1 : first;
    const int end = odd && last - first > 5 ? last - 1 : last;
    for (int decade = begin; decade <= end; ++decade) {
      if (decade % step != 0) continue;  // 1 is always among them where it is in sight
      const bool plain = decade >= -3 && decade <= 4;
      const std::string label =
          plain ? fmt::format("{:g}", std::pow(10.0, decade)) : fmt::format("1e{}", decade);
      text += fmt::format("{}'{}' 1e{}", text.empty() ? "" : ", ", label, decade);
    }
    if (zeros) text += fmt::format(", '0' {:.6g}", place(0));
    if (odd) text += fmt::format(", 'inf, nan' {:.6g}", place(std::nan("")));
    return "(" + text + ")";
  }
};

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string labels_at(const std::vector<std::string>& labels) {
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", in_quotes(labels[i]), i);
  return "(" + text + ")";
}

/// Named data; a point outside of all plots keeps gnuplot from calling an empty one an error.
std::string data(std::string_view name, const std::string& lines) {
  return fmt::format("${} << EOD\n{}EOD\n", name, lines.empty() ? "1e-300 -9 0\n" : lines);
}

}  // namespace

std::string plot_script(const RowPlot& plot) {
  std::vector<std::string> labels;
  Decades decades;
  if (plot.bounded) decades.hold(1);
  for (const auto& [label, values] : plot.rows) {
    labels.push_back(label);
    for (const double value : values) decades.hold(value);
  }
  std::string usual;
  std::string faults;
  std::string odd;
  std::string spans;
  for (std::size_t row = 0; row < plot.rows.size(); ++row) {
    const std::vector<double>& values = plot.rows[row].second;
    double most = 0;
    for (const double value : values) {
      const bool fault = plot.bounded && !(value <= 1);
      std::string& lines = !std::isfinite(value) ? odd : fault ? faults : usual;
      lines += fmt::format("{} {} 0\n", number(decades.place(value)), row);
      most = std::max(most, decades.place(value));
    }
    if (!values.empty()) spans += fmt::format("{} {} 0\n", number(most), row);
  }
  const int height = static_cast<int>(plot.rows.size()) * kRow + kAxis + 10;
  std::string script =
      opening(kWidth, height, static_cast<double>(longest(labels)) * kLetter + 16, 34, 8, kAxis);
  script += data("spans", spans) + data("usual", usual) + data("faults", faults) + data("odd", odd);
  script += fmt::format(
      "set logscale x\nset xrange [{0}:{1}]\nset yrange [{2}.5:-0.5]\nset xtics {3}\n"
      "set ytics {4}\nset grid xtics lt 1 lw 1 lc rgb '#010001'\nset xlabel {5}\n",
      number(decades.least()), number(decades.most()), plot.rows.empty() ? 0 : plot.rows.size() - 1,
      decades.ticks(), labels_at(labels), in_quotes(plot.axis));
  if (plot.bounded)
    script += "set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1.5 dt 2 lc rgb '#010002'\n";
  return script + fmt::format(
                      "plot $spans using ({}):2:($1-{}):(0) with vectors nohead lc rgb '#010001', "
                      "$usual using 1:2 with points pt 7 ps 0.55 lc rgb '#010003', "
                      "$faults using 1:2 with points pt 13 ps 0.75 lc rgb '#010002', "
                      "$odd using 1:2 with points pt 2 ps 0.9 lw 2 lc rgb '#010002'\n",
                      number(decades.least()), number(decades.least()));
}

std::string plot_script(const SeriesPlot& plot) {
  constexpr int kHeight = 340;
  Decades decades;
  decades.hold(1);
  for (const auto& [label, points] : plot.series)
    for (const auto& [tick, value] : points) decades.hold(value);
  std::string script = opening(kWidth, kHeight, 112, 24, 34, kAxis);
  std::string curves;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    std::vector<double> worst(plot.ticks.size(), 0);
    std::string lines;
    std::string odd;
    // Series beside each other, so that none hides another.
    const double shift =
        0.12 * (static_cast<double>(i) - static_cast<double>(plot.series.size() - 1) / 2);
    for (const auto& [tick, value] : plot.series[i].second) {
      const double place = decades.place(value);
      (std::isfinite(value) ? lines : odd) +=
          fmt::format("{} {} 0\n", number(static_cast<double>(tick) + shift), number(place));
      worst.at(tick) = std::max(worst.at(tick), place);
    }
    std::string line;
    for (std::size_t tick = 0; tick < worst.size(); ++tick)
      if (worst[tick] > 0)
        line += fmt::format("{} {} 0\n", number(static_cast<double>(tick) + shift),
                            number(worst[tick]));
    const std::string points = fmt::format("points{}", i);
    const std::string joined = fmt::format("worst{}", i);
    const std::string beyond = fmt::format("odd{}", i);
    script += data(points, lines) + data(joined, line) + data(beyond, odd);
    const std::size_t colour = 3 + i % 3;
    const int shape = std::vector<int>{7, 5, 9}[i % 3];
    curves += fmt::format(
        "{0}${1} using 1:2 with lines lw 1.5 lc rgb '#01000{3}' title {5}, "
        "${2} using 1:2 with points pt {4} ps 0.5 lc rgb '#01000{3}' notitle, "
        "${6} using 1:2 with points pt 2 ps 0.9 lw 2 lc rgb '#01000{3}' notitle",
        i == 0 ? "" : ", ", joined, points, colour, shape, in_quotes(plot.series[i].first), beyond);
  }
  script += fmt::format(
      "set logscale y\nset yrange [{0}:{1}]\nset xrange [-0.5:{2}.5]\nset ytics {3}\n"
      "set xtics {4}\nset grid ytics lt 1 lw 1 lc rgb '#010001'\nset xlabel {5}\nset ylabel {6}\n"
      "set key on at screen 0.985, screen 0.97 right top horizontal samplen 1.5\n"
      "set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lw 1.5 dt 2 lc rgb '#010002'\n",
      number(decades.least()), number(decades.most()),
      plot.ticks.empty() ? 0 : plot.ticks.size() - 1, decades.ticks(), labels_at(plot.ticks),
      in_quotes(plot.across), in_quotes(plot.axis));
  return script + "plot " + curves + "\n";
}

std::string plot_script(const HeatMap& plot) {
  const int cell = plot.columns.size() > 40 ? 14 : 18;
  const int columns = static_cast<int>(plot.columns.size());
  const int rows = static_cast<int>(plot.rows.size());
  const double left = static_cast<double>(longest(plot.rows)) * kLetter + 34;
  const int width = std::max(static_cast<int>(left) + columns * cell + 12, 420);
  const int height = rows * cell + 52;
  std::string script =
      opening(width, height, left, width - left - columns * cell, 8, height - 8 - rows * cell);
  constexpr std::size_t kShades = 4;
  std::vector<std::string> shades(kShades);
  for (const HeatMap::Square& square : plot.squares) {
    const auto shade = static_cast<std::size_t>(std::clamp(square.share, 0.0, 0.999) * kShades);
    shades[shade] += fmt::format("{} {} 0\n", square.column, square.row);
  }
  for (std::size_t i = 0; i < kShades; ++i) script += data(fmt::format("shade{}", i), shades[i]);
  script += fmt::format(
      "set xrange [-0.5:{0}.5]\nset yrange [{1}.5:-0.5]\nset xtics {2} rotate by 90 right\n"
      "set ytics {3}\nset xlabel {4} offset 0,0.4\nset ylabel {5}\n"
      "set grid xtics ytics lt 1 lw 1 lc rgb '#010001'\n",
      columns - 1, rows - 1, labels_at(plot.columns), labels_at(plot.rows), in_quotes(plot.across),
      in_quotes(plot.down));
  std::string squares;
  for (std::size_t i = 0; i < kShades; ++i)
    squares += fmt::format(
        "{}$shade{} using 1:2:(0.42):(0.42) with boxxyerror fs solid noborder lc rgb "
        "'#0100{:02x}'",
        i == 0 ? "" : ", ", i, 6 + i);
  return script + "plot " + squares + "\n";
}

}  // namespace parity
