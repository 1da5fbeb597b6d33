// The types that facesat.hpp shares with all of the detector: errors, sizes, borrowed images and
// arrays, and what is detected how. Programs include facesat.hpp, which includes this header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#define FACESAT_API __attribute__((visibility("default")))

namespace facesat {

// ---- errors

struct FACESAT_API Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file that is not a cascade file, or is damaged; the message names file, line and element.
struct FACESAT_API CascadeError : Error {
  using Error::Error;
};

// A parameter outside its range.
struct FACESAT_API ArgumentError : Error {
  using Error::Error;
};

// A backend, device or algorithm that this machine or this build of the library does not have.
struct FACESAT_API BackendError : ArgumentError {
  using ArgumentError::ArgumentError;
};

// A device that has failed.
struct FACESAT_API DeviceError : Error {
  using Error::Error;
};

// Work that its caller has ended (see ShouldStop); there is nothing wrong with it.
struct FACESAT_API Stopped : Error {
  Stopped() : Error("the detection was stopped before it was done") {}
};

// Work that does not fit into memory; the message gives the number of bytes it would need, if that
// is known.
struct FACESAT_API MemoryError : Error {
  MemoryError(const std::string& what_for, std::uint64_t bytes_needed);
  std::uint64_t bytes;  // needed; 0: not known
};

// A function that returns whether work shall end; an empty one never ends it. Every participating
// thread calls it about once per millisecond, several possibly at once, so it must be thread-safe
// and quick (read a flag, compare the time with a deadline). Once it has returned true, it must
// keep returning true until the call that it ends has thrown.
using ShouldStop = std::function<bool()>;

// ---- sizes and rectangles

struct Size {
  int width = 0, height = 0;
  constexpr std::size_t area() const { return static_cast<std::size_t>(width) * height; }
  bool operator==(const Size&) const = default;
};

// A rectangle in pixels; (x, y) is its top left corner. Rectangles are ordered by y, x, width,
// height.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Rect&) const = default;
  bool operator<(const Rect& other) const { return key() < other.key(); }

 private:
  std::tuple<int, int, int, int> key() const { return {y, x, width, height}; }
};

// ---- images

enum class PixelFormat {
  gray,  // one byte per pixel
  bgr,   // three bytes: blue, green, red
  bgra,  // four bytes; the last one is ignored
  rgb,   // three bytes: red, green, blue
};

constexpr int bytes_per_pixel(PixelFormat format) {
  return format == PixelFormat::gray ? 1 : format == PixelFormat::bgra ? 4 : 3;
}

// A borrowed image of 8 bits per channel. Whoever made it owns the pixels, which must not change
// during the calls that read them.
struct ImageView {
  const void* pixels = nullptr;  // of the first row
  Size size;
  std::ptrdiff_t pitch =
      0;  // bytes from one row to the next; negative where rows go upwards (in host memory)
  PixelFormat format = PixelFormat::bgr;
  // Where the pixels are: in host memory, or in that of a CUDA device. Then `stream` is the
  // cudaStream_t in which they were written (null: the default stream), and is waited for.
  bool on_device = false;
  void* stream = nullptr;
};

// ---- arrays

enum class Element { u8, u16, s16, u32, s32, u64, s64, f32, f64 };

constexpr int bytes_per_element(Element element) {
  switch (element) {
    case Element::u8:
      return 1;
    case Element::u16:
    case Element::s16:
      return 2;
    case Element::u32:
    case Element::s32:
    case Element::f32:
      return 4;
    case Element::u64:
    case Element::s64:
    case Element::f64:
      break;
  }
  return 8;
}

// A borrowed array of two dimensions, to be read.
struct ConstArrayView {
  const void* data = nullptr;  // the first element of the first row
  Size size;                   // in elements; with several channels, in pixels
  std::ptrdiff_t pitch = 0;    // bytes from one row to the next; at least those of a row
  Element element = Element::u8;
  bool on_device = false;  // in the memory of a CUDA device, or of the host
};

// The same, to be written.
struct ArrayView {
  void* data = nullptr;
  Size size;
  std::ptrdiff_t pitch = 0;
  Element element = Element::u8;
  bool on_device = false;

  operator ConstArrayView() const { return {data, size, pitch, element, on_device}; }
};

struct SatOptions {
  bool squares = false;  // sums of the squared elements; only for u8, u16 and s16
  // The table has a row of zeros above and a column of zeros to the left, as OpenCV's, so it is one
  // element wider and higher than the input. Its element (x, y) is the sum of all elements (u, v)
  // with u < x and v < y; without this, with u <= x and v <= y.
  bool exclusive = false;
  // Only in host memory: the number of elements side by side that are a pixel (RGBRGB...). Each
  // channel is summed by itself, and the table has the same layout.
  int channels = 1;
  // Only on a device: an id of sat_algorithms(), or "id:value" to set its parameter, as 'facesat
  // info' lists them. Empty: the fastest.
  std::string algorithm{};
  void* stream = nullptr;  // cudaStream_t; null: the default stream
};

// compose applies maps x -> a x + b one after the other. Like every operator it is associative, but
// its operands must not change places.
enum class ScanOperator { sum, product, minimum, maximum, compose };

struct ScanOptions {
  ScanOperator op = ScanOperator::sum;
  bool exclusive = false;   // element i of the result is without element i of the input
  std::string algorithm{};  // on a device: an id, or "id:name=value,..."; empty: the fastest
  void* stream = nullptr;   // on a device: a cudaStream_t
};

// ---- detection

enum class Scan {
  // Every second position where the scale is below 2. The skip rule: after a window that the first
  // stage rejects, the next one in its row is skipped.
  opencv,
  dense,  // every position of every level
};

struct DetectOptions {
  double scale_factor = 1.1;    // > 1
  int min_neighbors = 3;        // 0: no grouping
  Size min_size{}, max_size{};  // of a face, in pixels; a maximum with a 0 means none
  Scan scan = Scan::opencv;
  bool equalize = false;  // equalise the histogram of the grey image first
  double min_score = std::numeric_limits<double>::lowest();  // faces of lower scores are left out
  // Of a Detector's several cascades, the name of the one inside whose faces the others search,
  // such as that of faces for one of eyes. Empty: each searches the whole image.
  std::string inside_of{};
  bool only_with_inner = false;  // leave out its faces inside which the others find nothing
  // Boxes are cut to the image, as OpenCV does after grouping: rounding can make windows reach a
  // few pixels beyond. Programs that group windows themselves need them whole.
  bool clip = true;

  bool operator==(const DetectOptions&) const = default;
};

struct Face {
  Rect box;                 // pixels of the image
  int neighbors = 1;        // number of windows in its group
  double score = 0;         // the largest sum of the last stage among them
  std::size_t cascade = 0;  // index of the cascade that found it
};

// The steps of detection.
enum class Step { upload, gray, resize, sat, evaluate, download, group };
inline constexpr std::array<std::string_view, 7> step_names{"upload",   "gray",     "resize", "sat",
                                                            "evaluate", "download", "group"};

// Milliseconds that one image spent in each step.
struct StepTimes {
  std::array<double, step_names.size()> ms{};
  double& operator[](Step s) { return ms[static_cast<std::size_t>(s)]; }
  double operator[](Step s) const { return ms[static_cast<std::size_t>(s)]; }
};

// ---- training

// The features to choose from. basic: two and three rectangles side by side or above each other,
// four in a square. core: four in a row or column and one in the centre of nine, too. all: tilted
// ones, too. lbp: local binary patterns, which train and detect faster.
enum class FeatureSet { haar_basic, haar_core, haar_all, lbp };

// Gentle, Real and Discrete AdaBoost and LogitBoost (J. Friedman, T. Hastie, R. Tibshirani,
// "Additive Logistic Regression", 2000), as opencv_traincascade has them.
enum class Boosting { gentle, real, discrete, logit };

// What becomes of a box that has not the window's aspect ratio.
enum class Aspect {
  stretch,  // it is stretched to the window, as by opencv_createsamples -info
  keep,     // it grows in one direction first; beyond the image, edges are repeated
};

// How an object becomes samples. Of `shift` to `contrast`, each is the most by which a copy
// differs, in both directions.
struct SampleOptions {
  Size window{24, 24};  // of the cascade: the smallest object that it finds
  Aspect aspect = Aspect::stretch;
  int copies = 0;         // of each object, in addition to the object itself
  double shift = 0;       // across and down, as a fraction of the box
  double scale = 0;       // 0.1: from 1/1.1 to 1.1 times the size
  double turn = 0;        // in degrees, around the middle
  double brightness = 0;  // added to pixels
  double contrast = 0;    // 0.1: from 1/1.1 to 1.1 times the distance from middle grey
  bool mirror = false;    // each sample is followed by its mirror image
  int seed = 1;           // of all that is left to chance; not negative

  bool operator==(const SampleOptions&) const = default;
};

struct TrainOptions {
  FeatureSet features = FeatureSet::haar_basic;
  Boosting boosting = Boosting::gentle;
  int stages = 20;            // at most
  double hit_rate = 0.995;    // the part of the positives that must pass each stage
  double false_alarms = 0.5;  // the part of the negatives that may pass each stage
  // Training ends when the cascade accepts no more than this part of the windows searched for
  // negatives. 0: false_alarms to the power of `stages`, divided by the depth of trees.
  double goal = 0;
  double trim = 0.95;  // a tree learns from the heaviest samples, of this weight together
  int depth = 1;       // of trees; 1: stumps
  int trees = 100;     // of a stage, at most
  int bins = 0;        // 0: exact thresholds; otherwise those between this many bins, up to 256
  bool thresholds_by_held_out = false;  // hit_rate is of the positives held out
  int positives_per_stage = 0;          // at most; 0: all
  int negatives_per_stage = 0;          // 0: as many as positives
  double held_out = 0.1;  // the part of all samples that nothing is learnt from: see over-training
  // Most negatives of an image, and of its mirror image, per stage. 0: as many as are needed,
  // spread over all images as evenly as possible.
  int per_picture = 0;
  double scale_factor = 1.1;       // between the sizes at which images are searched for negatives
  bool mirrored_negatives = true;  // mirror images are searched, too
  int memory = 4096;               // for the features' values on the CPU, in MiB

  bool operator==(const TrainOptions&) const = default;
};

// ---- devices

struct DeviceInfo {
  int id = 0;  // for BackendOptions::device
  std::string name;
  std::string compute_capability;  // "9.0"
  std::uint64_t memory_bytes = 0;
};

}  // namespace facesat
