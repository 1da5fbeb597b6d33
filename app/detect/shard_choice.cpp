#include "app/detect/shard_choice.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/parse_number.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

std::optional<std::uint64_t> whole_part(std::string_view text) {
  constexpr std::uint64_t most = 1'000'000'000;
  const auto number = parse_number<std::uint64_t>(text);
  return number && *number <= most ? number : std::nullopt;
}

// What the environment says about the processes of this run.
class Launch {
 public:
  explicit Launch(const Environment& environment) : environment_(environment) {}

  Shard shard() const {
    const std::optional<Shard> element = array_element(), rank = this->rank();
    if (!element && !rank)
      throw UsageError(
          "--shard auto: no variable of Slurm, Open MPI or PMI says which rank this is: start the "
          "program with srun, mpirun or in a job array, or give --shard I/N");
    const Shard a = element.value_or(Shard{}), b = rank.value_or(Shard{});
    return {a.index * b.count + b.index, a.count * b.count};
  }

 private:
  bool has(const char* name) const { return environment_(name) != nullptr; }

  std::uint64_t number(const char* name) const {
    if (!has(name)) refuse(fmt::format("{} is missing", name));
    const auto number = whole_part(environment_(name));
    if (!number) refuse(fmt::format("{} is \"{}\", not a number", name, environment_(name)));
    return *number;
  }

  [[noreturn]] static void refuse(const std::string& reason) {
    throw UsageError(fmt::format("--shard auto: {}; give --shard I/N", reason));
  }

  std::optional<Shard> pair(const char* rank, const char* size) const {
    if (!has(rank) && !has(size)) return std::nullopt;
    const Shard shard{number(rank), number(size)};
    if (shard.index >= shard.count)
      refuse(fmt::format("{} is {}, but {} is {}", rank, shard.index, size, shard.count));
    return shard;
  }

  // The place of this job in its array. The numbers of an array need not begin at 0.
  std::optional<Shard> array_element() const {
    if (!has("SLURM_ARRAY_TASK_ID")) return std::nullopt;
    const std::uint64_t id = number("SLURM_ARRAY_TASK_ID"), least = number("SLURM_ARRAY_TASK_MIN"),
                        count = number("SLURM_ARRAY_TASK_COUNT"),
                        step = has("SLURM_ARRAY_TASK_STEP") ? number("SLURM_ARRAY_TASK_STEP") : 1,
                        most = has("SLURM_ARRAY_TASK_MAX") ? number("SLURM_ARRAY_TASK_MAX")
                                                           : least + (count - 1) * step;
    const bool is_even = step > 0 && id >= least && id <= most && (id - least) % step == 0 &&
                         most == least + (count - 1) * step;
    if (count == 0 || !is_even)
      refuse(
          fmt::format("element {} of a Slurm job array from {} to {} with {} elements has no "
                      "place in a row with steps of {}",
                      id, least, most, count, step));
    return Shard{(id - least) / step, count};
  }

  std::optional<Shard> rank() const {
    if (const auto rank = pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) return rank;
    if (const auto rank = pair("PMI_RANK", "PMI_SIZE")) return rank;
    // The script of a job has the variables of its first task, but is no task of srun.
    const bool is_job_script = has("SLURM_JOB_ID") && !has("SLURM_STEP_ID");
    if (!is_job_script)
      return pair("SLURM_PROCID",
                  has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
    const bool is_alone = has("SLURM_ARRAY_TASK_ID") || !has("SLURM_NTASKS");
    if (!is_alone && number("SLURM_NTASKS") > 1)
      refuse(fmt::format("SLURM_NTASKS is {}, but srun has not started this process as one of them",
                         number("SLURM_NTASKS")));
    return Shard{};
  }

  const Environment& environment_;
};

}  // namespace

Shard parse_shard(const std::string& text, const Environment& environment) {
  if (text == "auto") return Launch(environment).shard();
  const std::size_t slash = text.find('/');
  const auto index = whole_part(std::string_view(text).substr(0, slash));
  const auto count = whole_part(slash == text.npos ? "" : std::string_view(text).substr(slash + 1));
  if (!index || !count || *index >= *count)
    throw UsageError(
        fmt::format("--shard: expected I/N with I from 0 to N - 1, or auto, not \"{}\"", text));
  return {*index, *count};
}

std::string name_of_shard(std::string output, const Shard& shard) {
  constexpr std::string_view placeholder = "{shard}";
  const std::string text = fmt::format("{}-of-{}", shard.index, shard.count);
  for (std::size_t at = 0; (at = output.find(placeholder, at)) != output.npos; at += text.size())
    output.replace(at, placeholder.size(), text);
  return output;
}

}  // namespace facesat::app
