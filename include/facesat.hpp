// facesat as a library: objects found with a Viola-Jones cascade, exactly those of OpenCV's
// CascadeClassifier, on the CPU or a CUDA GPU; and integral images (summed area tables, SAT) with a
// choice of algorithms. This is the only header that a program includes; it needs C++20 and nothing
// but the standard library. docs/library.md shows its use.
//
// Whatever a function cannot do, it says by throwing an Error, whose what() is a sentence for the
// person at the keyboard. The library never prints, never ends the program, and installs no signal
// handlers. Sizes and coordinates are in pixels, with the origin in the upper left corner.
#pragma once

#if __cplusplus < 202002L
#error "facesat.hpp needs C++20: compile with -std=c++20 or newer"
#endif

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facesat/types.hpp"

namespace facesat {

// ---- cascades

// A model, as cascade files of OpenCV have it: opaque and never changed, so that any number of
// detectors and threads can share it.
struct Cascade;

inline constexpr std::string_view default_cascade_name = "frontalface_default";

// `name` is a file, whatever its extension, or else the name of one of OpenCV's files without
// "haarcascade_" and ".xml" (frontalface_default), such a name with "lbp:" in front for
// "lbpcascade_" (lbp:frontalface). The default one is part of the library; the others are looked
// for where OpenCV installs them (package opencv-data). Throws CascadeError; if there is no such
// file or name, the message has the nearest one that there is.
FACESAT_API std::shared_ptr<const Cascade> find_cascade(const std::string& name);

// The contents of a cascade file, as OpenCV loads it: both of its cascade formats, in XML, YAML or
// JSON, compressed by gzip or not. `name` begins the messages of errors. Throws CascadeError.
FACESAT_API std::shared_ptr<const Cascade> cascade_from_bytes(std::string_view bytes,
                                                              const std::string& name = "cascade");

// The same, by the name that it had when it read nothing but XML.
inline std::shared_ptr<const Cascade> cascade_from_xml(std::string_view xml,
                                                       const std::string& name = "cascade") {
  return cascade_from_bytes(xml, name);
}

// The names that find_cascade knows on this machine, sorted.
FACESAT_API std::vector<std::string> cascade_names();

struct CascadeInfo {
  std::string name;     // as given to find_cascade; of a file, its name without the extension
  bool is_lbp = false;  // features == "lbp", for programs that know two kinds
  std::string_view features = "haar";  // their kind: "haar", or "lbp" for local binary patterns
  Size window;                         // the smallest object that it finds
  int stages = 0, trees = 0;
  // What suggests that the file is damaged, although OpenCV loads it, too: sentences with the
  // file's name and the line.
  std::vector<std::string> warnings{};
};
FACESAT_API CascadeInfo info_of(const Cascade& cascade);

// The cascade as a file of OpenCV's present format. `comment`: lines for its reader.
FACESAT_API std::string cascade_to_xml(const Cascade& cascade, std::string_view comment = {});

// ---- detection

enum class BackendChoice { automatic, cpu, cuda };

struct BackendOptions {
  // automatic: CUDA where there is a device that can be used; the CPU takes over images too large
  // for it, and all images once it has failed.
  BackendChoice choice = BackendChoice::automatic;
  std::string device = "0";  // a number, or "all"
  std::string sat{};  // SAT algorithm of the GPU, as SatOptions::algorithm; empty: the fastest
  // With `automatic`: the CPU searches images while devices start, which takes seconds. A process
  // that ends meanwhile must not do so through exit(): see Detector::is_starting().
  bool in_background = false;
  // false: Detection::times stays zero on a GPU, which then spends some microseconds less on an
  // image.
  bool measures_steps = true;

  bool operator==(const BackendOptions&) const = default;
};

// What was found in one image.
struct Detection {
  // Those of each cascade in turn, in OpenCV's order (that of detectMultiScale on one thread):
  // faces by the first window of their group, and windows by size, y and x. With
  // DetectOptions::inside_of, each of its faces comes before those inside of it.
  std::vector<Face> faces;
  std::size_t windows = 0;   // that passed every stage, before grouping
  StepTimes times;           // of all cascades together
  bool on_gpu = false;       // where it was found
  std::exception_ptr error;  // only from detect_all: why this image could not be searched
};

// Finds objects in images of any sizes. All functions may be called by any number of threads at the
// same time: each image borrows what it needs from a pool, which grows to the number of images that
// were searched at once, as far as memory allows; further calls wait.
class FACESAT_API Detector {
 public:
  // Called, by any thread, with a sentence when a device fails or has too little memory and another
  // one or the CPU takes over; and by announce().
  using Notify = std::function<void(const std::string& sentence)>;

  // One cascade, by name or path: see find_cascade. Throws CascadeError, ArgumentError for options
  // outside their range, and BackendError if `backend` asks for what is not there.
  explicit Detector(const std::string& cascade = std::string(default_cascade_name),
                    const DetectOptions& options = {}, const BackendOptions& backend = {},
                    Notify notify = {});
  // Several cascades, which search the whole image or inside the faces of one of them.
  explicit Detector(std::vector<std::shared_ptr<const Cascade>> cascades,
                    const DetectOptions& options = {}, const BackendOptions& backend = {},
                    Notify notify = {});
  // A detector that has been moved from can only be assigned to or destroyed.
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;
  ~Detector();

  // The faces in an image: exactly the rectangles that cv::CascadeClassifier::detectMultiScale of
  // OpenCV 4.6 gives for its grey image, in the order that they have there with one thread (with
  // several, OpenCV's order varies). An empty image has none. An image in the memory of a
  // device is searched there. Throws ArgumentError for an image that is not one (a null pointer, a
  // pitch smaller than a row), MemoryError, DeviceError, Stopped.
  Detection detect(const ImageView& image, const ShouldStop& should_stop = {}) const;

  // Many images, searched at the same time by all processors or on the device; the results are in
  // their order. What goes wrong with one of them becomes its Detection::error.
  std::vector<Detection> detect_all(std::span<const ImageView> images,
                                    const ShouldStop& should_stop = {}) const;

  // "CPU", or the name of the device (the first, if there are several). This function and the two
  // below wait for devices that are starting.
  const std::string& device_name() const;
  bool on_gpu() const;
  // A sentence on where faces are detected, and why, if the choice was left to the library.
  const std::string& remark() const;
  // Has Notify called with this sentence: now, or as soon as devices have started.
  void announce() const;
  // A sentence for each device that has failed.
  std::vector<std::string> failures() const;

  // Are devices of any detector of this process starting in the background? Then CUDA's libraries
  // are being loaded, and what exit() destroys may still be in use: end the process with _exit().
  static bool is_starting();

  // For the program, which has more of it.
  class Pool;
  Pool& pool() const { return *pool_; }

 private:
  std::unique_ptr<Pool> pool_;
};

// ---- training

// An image, and the objects in it.
struct TrainingImage {
  ImageView image;
  // Boxes of objects. Among positives, none means that the image shows one object and nothing else;
  // among negatives, that it shows none.
  std::vector<Rect> objects{};
};

// A stage that has been trained. Rates of no samples are 1.
struct TrainedStage {
  int number = 0;  // from 0
  int trees = 0;
  std::size_t positives = 0, negatives = 0;  // that were learnt from
  double hit_rate = 1, false_alarms = 1;     // the parts of these that pass
  double held_out_hit_rate = 1, held_out_false_alarms = 1;
  double acceptance = 1;  // the part of all windows searched that passes the stages before
  double seconds = 0;     // to train it, without the search for negatives
  std::shared_ptr<const Cascade> cascade{};  // so far
};

// Is called by the thread that trains, after each stage; returns whether training goes on.
using OnStage = std::function<bool(const TrainedStage&)>;

struct Training {
  std::shared_ptr<const Cascade> cascade;
  std::vector<TrainedStage> stages;
  std::string ending;  // a sentence: why no further stage was trained
  // Sentences about negatives that could not be used.
  std::vector<std::string> warnings{};
};

// Trains a cascade that finds what the positives show, and that `facesat train` would train from
// the same images: it is the same on the CPU and on devices, with any number of threads. Negatives
// are searched outside their objects, so the same images can serve as both. Images are in host
// memory or on a device, and must not change during the call. `from`: a cascade of the same window
// and features, whose stages are kept.
//
// Throws ArgumentError for options outside their range, images that are none, boxes outside their
// images, too few positives, and negatives smaller than the window; BackendError, DeviceError,
// MemoryError, Stopped. What OnStage throws ends the training, too.
FACESAT_API Training train(std::span<const TrainingImage> positives,
                           std::span<const TrainingImage> negatives,
                           const SampleOptions& samples = {}, const TrainOptions& options = {},
                           const BackendOptions& backend = {}, const OnStage& on_stage = {},
                           const ShouldStop& should_stop = {},
                           const std::shared_ptr<const Cascade>& from = {});

// ---- integral images

// Computes the integral image (summed area table, SAT) of `input`, up to 32768 x 32768 elements,
// into `table`. Both arrays are in host memory or on the same device; they must not overlap. These
// are the types of tables:
//
//   input      table                in host memory also
//   u8         u32, s32, f32        u64, s64, f64
//   u16                             u32, s32, u64, s64, f64
//   s16                             s32, s64, f64
//   u32        u32                  u64, s64, f64
//   s32        s32                  s64, f64
//   f32        f32                  f64
//   f64        f64
//
// Sums of integers wrap modulo 2^32 in tables of 32 bits, and are never too large for those of 64,
// which the squares of 16 bits are not, either. In f64 they are exact up to 2^53.
//
// On a device, the work is enqueued in the stream, and the call returns before it is done. Tables
// are written in place if they are exclusive, element (1, 1) lies on a 16-byte boundary and the
// pitch is a multiple of 16; others are copied, which takes as long as the sums themselves. The
// inclusive table is the exclusive one without its first row and column, so it can be had in place,
// too.
//
// In host memory it uses one thread, and sums floating-point numbers in a defined order: first down
// the columns, then along the rows.
//
// Throws ArgumentError, BackendError, DeviceError, MemoryError. May be called by any number of
// threads at the same time.
FACESAT_API void sat(const ConstArrayView& input, const ArrayView& table,
                     const SatOptions& options = {});

struct SatAlgorithmInfo {
  std::string id, title, paper;  // id: for SatOptions and BackendOptions
  int year = 0;
  double reads = 0, writes = 0;  // of global memory, per element
};

// The algorithms for devices, the fastest first; none in a build without CUDA.
FACESAT_API std::vector<SatAlgorithmInfo> sat_algorithms();

// ---- prefix scans

// Computes the prefix scan of `input`: element i of `output` is the combination of its elements 0
// to i, in this order. Both are arrays of one row, of the same size and element (s32, u32, s64,
// f32, f64), of at most 2^30 elements, in host memory or on the same device; they may be the same
// array, and must not overlap otherwise. With `exclusive`, element 0 is what changes no other one:
// 0, 1, or the largest or smallest value of the type, infinity for floating-point numbers. Sums and
// products of integers wrap. Of arrays with NaN, minima and maxima are unspecified.
//
// compose: elements are maps x -> a x + b, of u32 or f32, as pairs a, b; the result has the maps
// that apply all up to and including i, the first one first. So b of the inclusive scan of the maps
// (c, x[i]) is the recursive filter y[i] = c y[i - 1] + x[i].
//
// On a device, the work is enqueued in the stream, and the call returns before it is done; arrays
// that do not lie on 16-byte boundaries are copied. In host memory it uses one thread, from the
// first element to the last.
//
// Throws ArgumentError, BackendError, DeviceError, MemoryError. May be called by any number of
// threads at the same time.
FACESAT_API void scan(const ConstArrayView& input, const ArrayView& output,
                      const ScanOptions& options = {});

// The algorithms for devices, the fastest first: their ids. None in a build without CUDA.
FACESAT_API std::vector<std::string> scan_algorithms();

// ---- devices

// The CUDA devices that can be used; `why_none` is set to a sentence if there are none.
FACESAT_API std::vector<DeviceInfo> devices(std::string* why_none = nullptr);

// The library's version, such as "1.2.3".
FACESAT_API std::string version();

}  // namespace facesat
