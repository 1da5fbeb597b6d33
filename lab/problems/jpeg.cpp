// facesat bench jpeg: JPEGs decoded on the GPU, from the bits alone and from files, and on the CPU.
// Without a GPU, only the CPU's rows are measured.
#include "lab/problems/jpeg.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/frame_memory.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/jpeg/jpeg_decoder.hpp"
#include "lab/problem.hpp"
#include "media/codec_formats.hpp"
#include "support/errors.hpp"

namespace facesat::lab {
namespace {

using gpu::JpegCase;

constexpr int threads_at_once = 8, files_of_thread = 8;

const std::map<std::string, Explanation> explanations{
    {gpu::jpeg_coefficients_id, {"Entropy decoding alone, of bits in device memory"}},
    {gpu::jpeg_pixels_id, {"From bits in device memory to a BGR picture there"}},
    {"file",
     {"From a file in host memory to a BGR picture in device memory: headers and bits taken apart "
      "by "
      "one thread of the CPU, upload, decoding; by the clock"}},
    {"files",
     {fmt::format("The same, {} files by each of {} threads at once: the time per file",
                  files_of_thread, threads_at_once)}},
    {gpu::nvjpeg_id,
     {"nvJPEG, from a file in host memory to a BGR picture in device memory; by the clock"}},
    {"cpu_serial", {"libjpeg-turbo, one thread of the CPU"}},
    {"cpu_threads", {"libjpeg-turbo, a file for each thread of the CPU: the time per file"}}};
const std::vector<std::string> ids{gpu::jpeg_coefficients_id,
                                   gpu::jpeg_pixels_id,
                                   "file",
                                   "files",
                                   gpu::nvjpeg_id,
                                   "cpu_serial",
                                   "cpu_threads"};

bool is_of_cpu(const std::string& id) {
  return id.starts_with("cpu_");
}

// Something like a photograph: smooth, with edges and a little noise.
Image<Bgr> scene_of(Size size) {
  Image<Bgr> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double wave = 60 * std::sin(x / 37.0) * std::cos(y / 53.0);
      const int edge = (x / 90 + y / 70) % 3 * 40;
      const auto channel = [&](int tint) {
        const auto noise = static_cast<int>(random() >> 16 & 7);
        return static_cast<std::uint8_t>(90 + static_cast<int>(wave) / tint + edge + noise);
      };
      picture.row(y)[x] = {channel(1), channel(2), channel(3)};
    }
  return picture;
}

std::vector<unsigned char> read_file(const std::string& path) {
  const FileBytes bytes = InputFile(path).read();
  const std::span<const unsigned char> all = bytes;
  return {all.begin(), all.end()};
}

// A file that has been decoded by libjpeg-turbo.
struct DecodedFile {
  std::string name;
  std::vector<unsigned char> file;
  Image<Bgr> pixels;
};

DecodedFile decoded_file(std::string name, std::vector<unsigned char> file) {
  const Picture picture = read_jpeg(file);
  if (picture.orientation > 1)
    throw InputError("decode", "it is turned by its EXIF data, which is not measured");
  Image<Bgr> pixels(picture.size());
  copy(picture.pixels, pixels.view());
  return {std::move(name), std::move(file), std::move(pixels)};
}

double microseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

// A thread's way from files to pictures in device memory.
class FileDecoder {
 public:
  FileDecoder(const JpegCase& one, int device)
      : one_(one), decoder_(gpu::make_jpeg_decoder(device)) {}

  // Returns when the picture is there. Throws DeviceError if it is not.
  void run() {
    const auto read = gpu::read_jpeg_stream(one_.file, default_max_pixels);
    picture_ = decoder_->decode(std::get<gpu::JpegStream>(read), false, 0);
    if (decoder_->has_failed()) throw DeviceError("the kernels cannot decode it");
  }
  bool is_right() const {
    const NewFrame<Bgr> frame = new_frame<Bgr>(picture_.size);
    constexpr int bytes = sizeof(Bgr);
    gpu::download(picture_, {reinterpret_cast<std::uint8_t*>(frame.pixels.data),
                             {picture_.size.width * bytes, picture_.size.height},
                             frame.pixels.pitch * bytes});
    return gpu::equal_share(frame.pixels, one_.pixels.view()) == 1;
  }

 private:
  const JpegCase& one_;
  std::unique_ptr<gpu::JpegDecoder> decoder_;
  ImageView picture_;
};

Subject file_subject(const JpegCase& one, int device) {
  const auto open = [&one, device] {
    const auto decoder = std::make_shared<FileDecoder>(one, device);
    return Runner{[decoder] { return microseconds_of([&] { decoder->run(); }); },
                  [decoder] { return decoder->is_right(); }};
  };
  return {.id = "file", .bytes = one.bytes(), .open = open};
}

Subject files_subject(const JpegCase& one, int device) {
  const auto open = [&one, device] {
    auto decoders = std::make_shared<std::vector<FileDecoder>>();
    for (int i = 0; i < threads_at_once; ++i) decoders->emplace_back(one, device);
    const auto run = [=] {
      const double us = microseconds_of([&] {
        std::vector<std::future<void>> threads;
        for (FileDecoder& decoder : *decoders)
          threads.push_back(std::async(std::launch::async, [&decoder] {
            for (int k = 0; k < files_of_thread; ++k) decoder.run();
          }));
        for (auto& thread : threads) thread.get();
      });
      return us / (threads_at_once * files_of_thread);
    };
    return Runner{run,
                  [decoders] { return std::ranges::all_of(*decoders, &FileDecoder::is_right); }};
  };
  return {.id = "files", .bytes = one.bytes(), .open = open};
}

Subject cpu_subject(const DecodedFile& file, bool in_parallel) {
  const std::size_t count =
      in_parallel ? static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()) : 1;
  const auto open = [&file, count] {
    const auto pictures = std::make_shared<std::vector<Picture>>(count);
    const auto run = [=, &file] {
      const double us = microseconds_of([&] {
        if (count == 1)
          pictures->front() = read_jpeg(file.file);
        else
          tbb::parallel_for(std::size_t{0}, count,
                            [&](std::size_t i) { (*pictures)[i] = read_jpeg(file.file); });
      });
      return us / static_cast<double>(count);
    };
    return Runner{run, [=, &file] {
                    return gpu::equal_share(pictures->back().pixels, file.pixels.view()) == 1;
                  }};
  };
  const double bytes =
      static_cast<double>(file.file.size() + file.pixels.size().area() * sizeof(Bgr));
  return {.id = in_parallel ? "cpu_threads" : "cpu_serial", .bytes = bytes, .open = open};
}

class JpegProblem final : public Problem {
 public:
  JpegProblem() {
    name = "jpeg";
    help = "JPEGs to pixels: microseconds per picture";
    algorithms_help =
        "coefficients, pixels: the kernels, first entropy decoding alone; file, files: from files "
        "in "
        "memory; nvjpeg, where it is installed; cpu_serial, cpu_threads: libjpeg-turbo; all; "
        "repeatable [all]";
    sizes_help =
        "Of pictures that are made; repeatable [640x480, 1920x1080, 3840x2160, or none with "
        "--image]";
    options = {{"--image", "FILE", "A JPEG; repeatable", &images_}};
    references = {{"floor", {"The picture's memory filled"}}};
  }

  std::string choose(const Request& request) override {
    std::vector<std::string> sizes = request.sizes;
    if (sizes.empty() && images_.empty()) sizes = {"640x480", "1920x1080", "3840x2160"};
    for (const std::string& text : sizes) sizes_.push_back(picture_size(text));
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    const std::vector<std::string_view> known(ids.begin(), ids.end());
    for (const std::string& id : request.algorithms) {
      if (id == "all") continue;
      known_word("--algorithm", "algorithm", id, known);
      if (!is_of_cpu(id)) require_gpu("--algorithm " + id, no_gpu);
    }
    wanted_ = request.algorithms;
    if (!wants_all(request.algorithms)) return "";
    wanted_ = ids;
    return no_gpu;
  }

  void prepare(const Request&) override {
    for (const std::string& path : images_) try {
        files_.push_back(decoded_file(std::filesystem::path(path).filename(), read_file(path)));
      } catch (const InputError& error) {
        throw UsageError(fmt::format("--image {}: {}", path, error.what()));
      }
  }

  std::vector<Column> columns() const override {
    return {text_column("algorithm", -12, "id"),
            text_column("picture", -16, "picture"),
            size_column(),
            {"file bytes", 10, [](const Json& row) { return row["file_bytes"].dump(); }},
            figure_column("equal %", 8, "equal_percent")};
  }

  void run(const Request& request, Table& table) override {
    for (const DecodedFile& file : files_) measure(file, request, table);
    for (const Size size : sizes_)
      measure(decoded_file("made", to_jpeg(scene_of(size).view())), request, table);
  }

  PageText page_text() const override {
    return {.title = "JPEGs, decoded and measured",
            .input = "picture",
            .check =
                "After each timed run every pixel is compared with libjpeg-turbo's, but those of "
                "nvJPEG, of which the share of equal bytes is given.",
            .floor = "a fill of the picture's memory",
            .bytes = "the file read once and the picture written once"};
  }
  void complete(Row& row, const Json& json) const override {
    row.type = json.value("picture", "");
    row.section = fmt::format("{} {}x{}", row.type, row.width, row.height);
  }
  std::string heading(const Row& first, const Json&) const override {
    return fmt::format("{} × {}", first.width, first.height);
  }
  Explanation explain(const std::string& id) const override {
    const auto found = explanations.find(id);
    return found == explanations.end() ? Explanation{} : found->second;
  }
  std::string speedup_over() const override { return "cpu_serial"; }

 private:
  void measure(const DecodedFile& file, const Request& request, Table& table) {
    table.begin_case();
    const Size size = file.pixels.size();
    const Json fields{{"picture", file.name},
                      {"width", size.width},
                      {"height", size.height},
                      {"file_bytes", file.file.size()}};
    table.attempt(fields, [&] {
      std::vector<Subject> of_cpu;
      for (const std::string& id : wanted_)
        if (is_of_cpu(id)) of_cpu.push_back(cpu_subject(file, id == "cpu_threads"));
      if (has_gpu_ && of_cpu.size() < wanted_.size()) measure_on_gpu(file, fields, request, table);
      table.measure(fields, of_cpu, request.runs, 0, request.algorithms);
    });
  }

  void measure_on_gpu(const DecodedFile& file, const Json& fields, const Request& request,
                      Table& table) {
    auto read = gpu::read_jpeg_stream(file.file, default_max_pixels);
    if (const auto* const why = std::get_if<std::string>(&read)) {
      const auto first = std::ranges::find_if_not(wanted_, is_of_cpu);
      const std::vector<Subject> refused{
          {.id = *first, .failure = "left to libjpeg-turbo: " + *why}};
      return table.measure(fields, refused, request.runs, 0, request.algorithms);
    }
    Image<Bgr> pixels(file.pixels.size());
    copy(file.pixels.view(), pixels.view());
    const JpegCase one{file.file, std::move(pixels), std::move(std::get<gpu::JpegStream>(read))};
    std::map<std::string, double> shares;
    const auto put = [&](const std::string& id, double share) { shares[id] = share; };
    GpuSubjects gpu = gpu::jpeg_subjects(one, request.device, wanted_, put);
    if (contains(wanted_, "file")) gpu.subjects.push_back(file_subject(one, request.device));
    if (contains(wanted_, "files")) gpu.subjects.push_back(files_subject(one, request.device));
    table.measure(fields, gpu.subjects, request.runs, gpu.room, request.algorithms,
                  [&](const Subject& subject, Json& row) {
                    if (shares.contains(subject.id))
                      row["equal_percent"] = 100 * shares[subject.id];
                  });
  }

  std::vector<std::string> images_, wanted_;
  std::vector<Size> sizes_;
  std::vector<DecodedFile> files_;
  bool has_gpu_ = false;
};

}  // namespace

std::unique_ptr<Problem> jpeg_problem() {
  return std::make_unique<JpegProblem>();
}

}  // namespace facesat::lab
