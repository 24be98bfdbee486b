// Scripts for gnuplot and what becomes of its SVG.
#include "reports/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/gnuplot.hpp"
#include "tests/html_page.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RowPlot rows(const std::string& label, std::vector<double> values) {
  return {.name = "rows", .axis = "error", .rows = {{label, std::move(values)}}, .bounded = true};
}

TEST(PlotScriptTest, LabelsAreNothingButText) {
  const std::string script =
      plot_script(rows("a'`touch x`\"@b\\\n!system('y')\xff$data <&>", {0.5}));
  EXPECT_NE(script.find(R"(set ytics ('a~~touch x~~~b~~~system(~y~)~~data ~~~' 0))"),
            std::string::npos)
      << script;
  EXPECT_EQ(script.find('`'), std::string::npos);
}

TEST(PlotScriptTest, LabelsAreNoFormats) {
  const std::string script = plot_script(rows("k%g %s", {0.5}));
  EXPECT_NE(script.find("set ytics ('k~g ~s' 0)"), std::string::npos) << script;
}

TEST(PlotScriptTest, LongLabelEndsInDots) {
  const std::string script = plot_script(rows(std::string(100, 'x'), {0.5}));
  EXPECT_NE(script.find("('" + std::string(62, 'x') + "..' 0)"), std::string::npos) << script;
}

TEST(PlotScriptTest, ValuesStandWhereTheyBelong) {
  const std::string script = plot_script(rows("r", {0.5, 20, 0, kInfinity, std::nan("")}));
  EXPECT_NE(script.find("$usual << EOD\n0.5 0 0\n0.0398107 0 0\nEOD\n"), std::string::npos)
      << script;
  EXPECT_NE(script.find("$faults << EOD\n20 0 0\nEOD\n"), std::string::npos) << script;
  EXPECT_NE(script.find("$odd << EOD\n251.189 0 0\n251.189 0 0\nEOD\n"), std::string::npos)
      << script;
  EXPECT_NE(script.find("('0.1' 1e-1, '1' 1e0, '10' 1e1, '100' 1e2, '0' 0.0398107, "
                        "'inf, nan' 251.189)"),
            std::string::npos)
      << script;
}

TEST(PlotScriptTest, LabelsOfManyDecadesLeaveRoomForThoseOfTheEnds) {
  const std::string script = plot_script(rows("r", {1e-6, 1e6, 0, kInfinity}));
  EXPECT_NE(script.find("set xtics ('1e-4' 1e-4, '0.01' 1e-2, '1' 1e0, '100' 1e2, '10000' 1e4, "
                        "'0' 3.98107e-07, 'inf, nan' 2.51189e+06)"),
            std::string::npos)
      << script;
}

TEST(PlotScriptTest, SharesOfTheHeatMapFallIntoFourShades) {
  const HeatMap map = {.name = "heat",
                       .down = "d",
                       .across = "a",
                       .rows = {"r"},
                       .columns = {"1", "2", "3"},
                       .squares = {{0, 0, 1.0}, {0, 1, 0.3}, {0, 2, 0.0}}};
  const std::string script = plot_script(map);
  EXPECT_NE(script.find("$shade1 << EOD\n1 0 0\nEOD\n"), std::string::npos) << script;
  EXPECT_NE(script.find("$shade3 << EOD\n0 0 0\nEOD\n"), std::string::npos) << script;
  EXPECT_NE(script.find("$shade0 << EOD\n2 0 0\nEOD\n"), std::string::npos) << script;
}

constexpr const char* kSvg =
    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 80 20\"\n>\n<title>x</title>\n"
    "<desc>Produced by a version</desc>\n<g id=\"canvas\">\n"
    "<defs><circle id='p5' r='1'/><use xlink:href='#p5' id='p6'/>\n"
    "<filter id='f' x='0'><feFlood/></filter></defs>\n<g fill=\"none\">\n<g a=\"b\">\n</g>\n</g>\n"
    "<g id=\"plot_1\"><title>plot_1</title><use xlink:href='#p6' color='rgb(  1,   0,   3)'/></g>\n"
    "<path stroke='black' fill = 'none' color=\"black\" d='M0,0'/>\n"
    "<path stroke='rgb(  0, 158, 115)' d='M0,0'/>\n</g>\n</svg>\n";

TEST(PlotMarkupTest, PlotBecomesPartOfThePage) {
  EXPECT_EQ(plot_markup(kSvg, "heat", "A <map>", "of \"all\""),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" id=\"heat\" "
            "aria-labelledby=\"heat-title heat-desc\" width=\"80\" height=\"20\" "
            "viewBox=\"0 0 80 20\">\n<title id=\"heat-title\">A &lt;map&gt;</title>\n"
            "<desc id=\"heat-desc\">of &quot;all&quot;</desc>\n\n<g id=\"heat-canvas\">\n"
            "<defs><circle id=\"heat-p5\" r='1'/><use href=\"#heat-p5\" id=\"heat-p6\"/>\n</defs>\n"
            "\n<g id=\"heat-plot_1\"><use href=\"#heat-p6\" color='var(--plot-3)'/></g>\n"
            "<path stroke=\"currentColor\" fill = 'none' color=\"currentColor\" d='M0,0'/>\n"
            "<path stroke='rgb(  0, 158, 115)' d='M0,0'/>\n</g>\n</svg>\n");
}

TEST(PlotMarkupTest, TextMayHoldAnyWords) {
  std::string svg = kSvg;
  svg.insert(svg.find("<path"), "<text>one style= url(x) http on=off &lt;script&gt;</text>");
  EXPECT_NE(plot_markup(svg, "heat", "t", "d"), std::nullopt);
}

TEST(PlotMarkupTest, WhatAPageMustNotTakeIsRefused) {
  for (const char* const foreign :
       {"<script>x</script>", "<image href='x'/>", "<g onload='x'></g>", "<a href='x'>y</a>",
        "<path style='x'/>", "<path fill='url(x)'/>", "<!-- x -->", "<foreignObject/>"}) {
    std::string svg = kSvg;
    svg.insert(svg.find("<path"), foreign);
    EXPECT_EQ(plot_markup(svg, "heat", "t", "d"), std::nullopt) << foreign;
  }
  for (const char* const broken : {"", "<svg", "<svg viewBox=\"0 0 1 1\"><desc></desc>",
                                   "<svg viewBox=\"0 0 1\"><desc></desc></svg>",
                                   "</svg><desc></desc><svg viewBox=\"0 0 1 1\">"})
    EXPECT_EQ(plot_markup(broken, "heat", "t", "d"), std::nullopt) << broken;
}

/// Every plot that a report can ask for, drawn for real.
TEST(PlotDrawnTest, GnuplotTakesEveryScript) {
  if (!test::have_program("gnuplot")) GTEST_SKIP() << "no gnuplot; package gnuplot-nox";
  const SeriesPlot empty_series = {
      .name = "s", .across = "x", .axis = "y", .ticks = {"1", "auto"}, .series = {{"k", {}}}};
  const SeriesPlot series = {.name = "s",
                             .across = "x",
                             .axis = "y",
                             .ticks = {"1", "auto"},
                             .series = {{"k", {{0, 0.5}, {1, kInfinity}}}, {"l", {{1, 0}}}}};
  const HeatMap map = {.name = "h",
                       .down = "d",
                       .across = "a",
                       .rows = {"r"},
                       .columns = {"1"},
                       .squares = {{0, 0, 1.0}}};
  const std::vector<std::string> scripts = {plot_script(rows("usual", {0.5, 1e-9, 1e9})),
                                            plot_script(rows("zeros", {0, 0})),
                                            plot_script(rows("odd", {kInfinity, std::nan("")})),
                                            plot_script(rows("none", {})),
                                            plot_script(series),
                                            plot_script(empty_series),
                                            plot_script(map)};
  for (const std::string& script : scripts) {
    Gnuplot gnuplot;
    const auto first = gnuplot.draw(script);
    ASSERT_TRUE(first) << gnuplot.missing() << '\n' << script;
    EXPECT_EQ(gnuplot.draw(script), first) << "two plots of one script differ";
    EXPECT_TRUE(plot_markup(*first, "n", "t", "d")) << script;
  }
}

}  // namespace
}  // namespace parity
