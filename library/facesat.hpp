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

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

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
  bool is_lbp = false;  // local binary patterns; otherwise Haar features
  Size window;          // the smallest object that it finds
  int stages = 0, trees = 0;
  // What suggests that the file is damaged, although OpenCV loads it, too: sentences with the
  // file's name and the line.
  std::vector<std::string> warnings{};
};
FACESAT_API CascadeInfo info_of(const Cascade& cascade);

// ---- images

enum class PixelFormat {
  gray,  // one byte per pixel
  bgr,   // three bytes: blue, green, red
  bgra,  // four bytes; the last one is ignored
};

constexpr int bytes_per_pixel(PixelFormat format) {
  return format == PixelFormat::gray ? 1 : format == PixelFormat::bgr ? 3 : 4;
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
  // faces by the first window of their group, and windows by size, y and x.
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
  // Several cascades, each of which searches the whole image.
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

  class Pool;  // opaque

 private:
  std::unique_ptr<Pool> pool_;
};

// ---- integral images

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

// ---- devices

struct DeviceInfo {
  int id = 0;  // for BackendOptions::device
  std::string name;
  std::string compute_capability;  // "9.0"
  std::uint64_t memory_bytes = 0;
};

// The CUDA devices that can be used; `why_none` is set to a sentence if there are none.
FACESAT_API std::vector<DeviceInfo> devices(std::string* why_none = nullptr);

// The library's version, such as "1.2.3".
FACESAT_API std::string version();

}  // namespace facesat
