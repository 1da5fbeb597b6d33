#include "app/train/training_report.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/train/samples_command.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;
using training::Rates;

constexpr std::size_t hardest_shown = 48;

// "2,985"
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string rates_text(const Rates& rates) {
  return fmt::format("hit rate {:.4f}, false alarms {:.4f}", rates.hit_rate, rates.false_alarm);
}

void append(const std::filesystem::path& folder, Json event) {
  std::ofstream log(folder / "log.jsonl", std::ios::app);
  log << event.dump() << '\n';  // a log that cannot be written ends no training
}

Json rates_json(const Rates& rates) {
  return {{"hit_rate", rates.hit_rate}, {"false_alarms", rates.false_alarm}};
}

}  // namespace

TrainingReport::~TrainingReport() {
  erase();
}

void TrainingReport::erase() {
  if (is_line_open_) say("\r\x1b[K");
  is_line_open_ = false;
}

void TrainingReport::show(const std::string& line) {
  if (!shown_ || !standard_error_is_terminal()) return;
  erase();
  say(printable(line));
  is_line_open_ = true;
}

void TrainingReport::message(const std::string& line) {
  append(folder_, {{"event", "message"}, {"text", line}});
  if (!shown_) return;
  erase();
  say_line(line);
}

void TrainingReport::mines(int stage, const training::MiningProgress& progress) {
  if (std::exchange(mined_stage_, stage) != stage) begun_ = Clock::now();
  windows_ = progress.windows;
  const double share =
      progress.wanted == 0
          ? 1
          : std::max(static_cast<double>(progress.found) / static_cast<double>(progress.wanted),
                     1e-9);
  const double left = seconds() / share - seconds();
  show(fmt::format("stage {}: {} of {} negatives, picture {} of {}, round {}, {} windows{}", stage,
                   grouped(progress.found), grouped(progress.wanted), progress.pictures,
                   progress.all_pictures, progress.round, grouped(progress.windows),
                   progress.found > 0 ? fmt::format(", about {:.0f} s to go", left) : ""));
}

void TrainingReport::begins(const training::StageStart& start) {
  const std::string samples = fmt::format(
      "stage {}: {} positives, {} negatives ({} of the stage before){}{}", start.stage,
      grouped(start.positives), grouped(start.negatives), grouped(start.kept),
      start.stage > 0 ? fmt::format("; so far, {:.2g} of the windows pass", start.acceptance) : "",
      start.is_resumed ? "; goes on where it was ended" : "");
  message(samples);
  Json event{{"event", "stage"},
             {"stage", start.stage},
             {"positives", start.positives},
             {"negatives", start.negatives},
             {"kept", start.kept},
             {"held_out_positives", start.held_out_positives},
             {"held_out_negatives", start.held_out_negatives},
             {"acceptance", start.acceptance}};
  if (!start.is_resumed) {
    event["windows"] = windows_;
    event["seconds"] = seconds();
  }
  append(folder_, event);
  begun_ = Clock::now();
}

void TrainingReport::has_tree(int stage, const training::StageTrainer& trainer) {
  const Rates rates = trainer.rates();
  Json event{{"event", "tree"}, {"stage", stage}, {"tree", trainer.trees().size()}};
  event.update(rates_json(rates));
  event["seconds"] = seconds();
  append(folder_, event);
  show(fmt::format("stage {}: {}, {}", stage, plural(trainer.trees().size(), "tree"),
                   rates_text(rates)));
}

void TrainingReport::ends(int stage, const training::StageTrainer& trainer) {
  const Rates rates = trainer.rates(), held_out = trainer.held_out_rates();
  Json event{{"event", "stage_end"}, {"stage", stage}, {"trees", trainer.trees().size()}};
  event.update(rates_json(rates));
  if (trainer.held_out_positives() > 0) event["held_out"] = rates_json(held_out);
  event["seconds"] = seconds();
  append(folder_, event);
  message(fmt::format("stage {}: {}, {}{}; {:.1f} s", stage, plural(trainer.trees().size(), "tree"),
                      rates_text(rates),
                      trainer.held_out_positives() > 0
                          ? fmt::format("; of those held out {:.4f}, {:.4f}", held_out.hit_rate,
                                        held_out.false_alarm)
                          : "",
                      seconds()));
  if (!trainer.has_reached_rate())
    message(
        fmt::format("stage {}: the false alarms are still {:.4f} after {}; --trees allows more, "
                    "--depth better ones",
                    stage, rates.false_alarm, plural(trainer.trees().size(), "tree")));
  // Three standard deviations, because a few of those held out may fail by chance.
  const double count = static_cast<double>(std::max<std::size_t>(trainer.held_out_positives(), 1));
  const double deviation = std::sqrt(held_out.hit_rate * (1 - held_out.hit_rate) / count);
  if (held_out.hit_rate < rates.hit_rate - 3 * deviation - 1 / count)
    message(
        fmt::format("stage {}: over-training: {:.4f} of the positives held out pass, of the "
                    "others {:.4f}; more positives or copies help, or fewer trees",
                    stage, held_out.hit_rate, rates.hit_rate));
}

void TrainingReport::has_negatives(int stage, const training::Samples& samples,
                                   const std::vector<training::Origin>& origins) {
  if (stage == 0 || samples.count() == 0) return;
  std::vector<std::size_t> order(samples.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return origins[i].score; });
  order.resize(std::min(order.size(), hardest_shown));
  training::Samples hardest{.window = samples.window, .pixels = {}};
  std::ofstream list(folder_ / "hardest.csv");
  list << "image,x,y,w,h,score\n";
  for (const std::size_t i : order) {
    hardest.add(samples[i]);
    const auto& [picture, mirrored, box, score] = origins[i];
    list << fmt::format("\"{}\",{},{},{},{},{}\n", negatives_.name(picture), box.x, box.y,
                        box.width, box.height, score);
  }
  write_picture(folder_ / "hardest.png", sheet_of(hardest).view());
}

}  // namespace facesat::app
