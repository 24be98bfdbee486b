// A kernel description that needs no device: y = x·w by rows, and the log-sum-exp of each row of x.
#pragma once

#include <cmath>
#include <utility>

#include "datasets/fill.hpp"
#include "harness/case.hpp"

namespace parity {

inline TensorList toy_inputs(const Case& c) {
  Tensor x(c.dtype("x"), {c.constant("rows"), c.constant("n")});
  Tensor w(c.dtype("w"), {c.constant("n")});
  if (c.recipe != "zeros") fill_normal(x, c.data_seed(), "x");
  fill_normal(w, c.data_seed(), "w");
  return {{"x", std::move(x)}, {"w", std::move(w)}};
}

inline std::vector<PackOutput> toy_outputs(const Case& c) {
  const std::int64_t rows = c.constant("rows");
  return {{.name = "y",
           .type = {c.dtype("x"), {rows, c.constant("n")}},
           .rule = OutputRule::rows,
           .expected = {},
           .bound = {}},
          {.name = "lse",
           .type = {Dtype::f32, {rows}},
           .rule = OutputRule::log_sum_exp,
           .expected = {},
           .bound = {}}};
}

inline ReferenceResult toy_reference(const Case& c, const TensorList& inputs) {
  const Tensor& x = find(inputs, "x");
  const Tensor& w = find(inputs, "w");
  const std::int64_t n = c.constant("n");
  ReferenceResult result;
  result.outputs = toy_outputs(c);
  Tensor y(Dtype::f64, x.shape());
  Tensor bound(Dtype::f64, x.shape());
  Tensor lse(Dtype::f64, {c.constant("rows")});
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    y.set(i, x.at(i) * w.at(i % n));
    bound.set(i, 0x1p-20 * std::abs(y.at(i)));
    lse.set(i / n, lse.at(i / n) + std::exp2(x.at(i)));
  }
  for (std::int64_t row = 0; row < lse.elements(); ++row) lse.set(row, std::log2(lse.at(row)));
  result.outputs[0].expected = std::move(y);
  result.outputs[0].bound = std::move(bound);
  result.outputs[1].bound = Tensor(lse.type());
  result.outputs[1].expected = std::move(lse);
  return result;
}

inline KernelSpec toy_spec() {
  return {.name = "toy_v1",
          .operation = "toy",
          .dtypes = {{"x", {Dtype::f32, Dtype::f16, Dtype::bf16}}, {"w", {Dtype::f32, Dtype::f16}}},
          .constants = {{"rows", {1, 3}, false}, {"n", {8, 16}, false}, {"splits", {1, 2}, true}},
          .recipes = {"plain", "zeros"},
          .degenerate_recipes = {"zeros"},
          .smoke = {"toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/plain",
                    "toy_v1/x=bf16,w=f16/rows=3,n=8,splits=1/plain"},
          .requirements = {{{"n"},
                            "n must be at least 1",
                            [](const Case& c) { return c.constant("n") > 0; }}},
          .inputs = toy_inputs,
          .outputs = toy_outputs,
          .reference = toy_reference,
          .modules = {},
          .launch = {},
          .entry_point = "parity::toy_v1"};
}

}  // namespace parity
