#include "kernels/device/captured_graph.hpp"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include <cxxabi.h>

namespace facesat::gpu {
namespace {

// Since CUDA 13, these functions have a parameter for what edges carry, which here is nothing.
#if CUDART_VERSION >= 13000
#define FACESAT_EDGES nullptr,
#else
#define FACESAT_EDGES
#endif

// The only node without a predecessor; null in an empty graph.
cudaGraphNode_t first_node(cudaGraph_t graph) {
  cudaGraphNode_t node{};
  std::size_t count = 1;
  FACESAT_CUDA(cudaGraphGetRootNodes(graph, &node, &count));
  return count > 0 ? node : nullptr;
}

// The node that waits for this one; null after the last.
cudaGraphNode_t node_after(cudaGraphNode_t node) {
  cudaGraphNode_t next{};
  std::size_t count = 1;
  FACESAT_CUDA(cudaGraphNodeGetDependentNodes(node, &next, FACESAT_EDGES & count));
  return count > 0 ? next : nullptr;
}

cudaGraphNodeType type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  FACESAT_CUDA(cudaGraphNodeGetType(node, &type));
  return type;
}

// "void a::(anonymous namespace)::f_kernel<3, b::C>(int)" -> "f"
std::string short_name(const std::string& demangled) {
  std::string name;
  int depth = 0;  // of template arguments and parentheses
  for (const char c : demangled) {
    if (c == '(' && !name.empty() && depth == 0) break;  // the parameters
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) name += c;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && (c == ' ' || name.ends_with("::"))) name.clear();
  }
  constexpr std::string_view suffix = "_kernel";
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

std::string name_of_kernel(cudaGraphNode_t node) {
  cudaKernelNodeParams about{};
  const char* mangled = nullptr;
  FACESAT_CUDA(cudaGraphKernelNodeGetParams(node, &about));
  FACESAT_CUDA(cudaFuncGetName(&mangled, about.func));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return short_name(demangled ? demangled.get() : mangled);
}

std::string name_of(cudaGraphNode_t node) {
  switch (type_of(node)) {
    case cudaGraphNodeTypeKernel:
      return name_of_kernel(node);
    case cudaGraphNodeTypeMemcpy:
      return "copy of memory";
    case cudaGraphNodeTypeMemset:
      return "fill of memory";
    default:
      return "other work";
  }
}

// Records the event between two nodes of the graph, or after the last one.
void record_between(cudaGraph_t graph, cudaGraphNode_t node, cudaGraphNode_t next,
                    const Event& event) {
  cudaGraphNode_t record{};
  FACESAT_CUDA(cudaGraphAddEventRecordNode(&record, graph, &node, 1, event.get()));
  if (!next) return;
  FACESAT_CUDA(cudaGraphRemoveDependencies(graph, &node, &next, FACESAT_EDGES 1));
  FACESAT_CUDA(cudaGraphAddDependencies(graph, &record, &next, FACESAT_EDGES 1));
}

}  // namespace

void CapturedGraph::capture(cudaStream_t stream, const std::function<void()>& enqueue,
                            std::span<const StepBegin> steps) {
  FACESAT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t captured{};
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream, &captured);  // any error matters less than the first one
    const Graph unfinished(captured);         // destroys what has been captured
    throw;
  }
  FACESAT_CUDA(cudaStreamEndCapture(stream, &captured));
  const Graph graph(captured);
  executable_ = {};
  timed_.clear();
  if (!steps.empty()) time_nodes(graph.get(), steps);
  cudaGraphExec_t executable{};
  FACESAT_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0));
  executable_ = GraphExec(executable);
}

void CapturedGraph::launch(cudaStream_t stream) const {
  FACESAT_CUDA(cudaGraphLaunch(executable_.get(), stream));
}

void CapturedGraph::time_nodes(cudaGraph_t graph, std::span<const StepBegin> steps) {
  cudaEvent_t last{};  // recorded before the node
  Step step{};
  for (cudaGraphNode_t node = first_node(graph), next{}; node; node = next) {
    next = node_after(node);
    if (type_of(node) == cudaGraphNodeTypeEventRecord) {
      cudaEvent_t event{};
      FACESAT_CUDA(cudaGraphEventRecordNodeGetEvent(node, &event));
      for (const StepBegin& begin : steps)
        if (begin.event->get() == event) step = begin.step, last = event;
    } else if (last) {
      Event end = make_event();
      record_between(graph, node, next, end);
      timed_.push_back({step, name_of(node), last, std::move(end)});
      last = timed_.back().end.get();
    }
  }
}

std::vector<KernelTime> CapturedGraph::times() const {
  std::vector<KernelTime> times;
  for (const Timed& timed : timed_)
    times.push_back({timed.step, timed.name, elapsed_ms(timed.begin, timed.end.get())});
  return times;
}

}  // namespace facesat::gpu
