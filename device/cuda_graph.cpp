// A chain of kernel nodes. Built node by node, not captured from a stream: while one is, no thread
// may wait for the device.
#include "device/cuda_graph.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "device/cuda_check.hpp"

namespace parity {
namespace {

class Chain {
 public:
  Chain() { check_cuda(cudaGraphCreate(&graph_, 0), "make a graph"); }
  ~Chain() { cudaGraphDestroy(graph_); }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void add(const PreparedLaunch& launch, const void* function) {
    const auto [grid, block, shared_bytes] = launch.shape;
    // Only read: copied before the call returns.
    void* arguments[] = {const_cast<std::byte*>(launch.params.data())};
    cudaKernelNodeParams node{};
    node.func = const_cast<void*>(function);
    node.gridDim = {grid.x, grid.y, grid.z};
    node.blockDim = {block.x, block.y, block.z};
    node.sharedMemBytes = static_cast<unsigned>(shared_bytes);
    node.kernelParams = arguments;
    const cudaGraphNode_t before = last_;
    check_cuda(cudaGraphAddKernelNode(&last_, graph_, &before, before == nullptr ? 0 : 1, &node),
               fmt::format("add a launch of grid ({},{},{}), block ({},{},{}) to a graph", grid.x,
                           grid.y, grid.z, block.x, block.y, block.z));
  }
  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t last_ = nullptr;
};

class CudaGraph final : public Graph {
 public:
  CudaGraph(std::vector<PreparedLaunch> launches, const std::vector<const void*>& functions)
      : launches_(std::move(launches)) {
    Chain chain;
    for (std::size_t i = 0; i < launches_.size(); ++i) chain.add(launches_[i], functions.at(i));
    check_cuda(cudaGraphInstantiate(&executable_, chain.get(), 0), "make " + words());
  }
  ~CudaGraph() override { cudaGraphExecDestroy(executable_); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void replay() override { check_cuda(cudaGraphLaunch(executable_, nullptr), "start " + words()); }

 private:
  std::string words() const { return fmt::format("a graph of {} launches", launches_.size()); }

  std::vector<PreparedLaunch> launches_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

std::unique_ptr<Graph> make_cuda_graph(std::vector<PreparedLaunch> launches,
                                       const std::vector<const void*>& functions) {
  return std::make_unique<CudaGraph>(std::move(launches), functions);
}

}  // namespace parity
