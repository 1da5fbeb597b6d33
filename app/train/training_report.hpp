// Tells the user of a training, and the log, how far it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "training/trainer.hpp"

namespace facesat::app {

class TrainingReport : public training::TrainingObserver {
 public:
  // The log and the picture of the hardest negatives go into `folder`. `shown`: also say it.
  TrainingReport(std::filesystem::path folder, const training::NegativePictures& negatives,
                 bool shown)
      : folder_(std::move(folder)), negatives_(negatives), shown_(shown) {}
  ~TrainingReport() override;

  void mines(int stage, const training::MiningProgress& progress) override;
  void begins(const training::StageStart& start) override;
  void has_tree(int stage, const training::StageTrainer& trainer) override;
  void ends(int stage, const training::StageTrainer& trainer) override;
  void has_negatives(int stage, const training::Samples& samples,
                     const std::vector<training::Origin>& origins) override;
  // Says a line, and adds it to the log.
  void message(const std::string& line);
  // Says a line that the next one replaces, if it is read on a terminal.
  void show(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  void erase();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  std::filesystem::path folder_;
  const training::NegativePictures& negatives_;
  bool shown_, is_line_open_ = false;
  int mined_stage_ = -1;                    // whose negatives were searched last
  std::uint64_t windows_ = 0;               // searched for them
  Clock::time_point begun_ = Clock::now();  // mining, then the stage
};

}  // namespace facesat::app
