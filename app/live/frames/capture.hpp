// The thread that reads frames: at the pace of a video, as they come from a camera, or on request.
// It plays a list of sources. Failures become messages; the thread keeps running.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/threads.hpp"
#include "media/frame_source.hpp"

namespace facesat::app {

// A frame as the capture thread gives it to the others.
struct CapturedFrame : Frame {
  std::uint64_t source = 0;            // counts the sources that were opened
  std::string origin{};                // its source, as open_source() takes it
  std::uint64_t list = 0;              // counts the lists of sources that were opened
  std::size_t entry = 0, entries = 0;  // which source of its list, and how many there are
  // Which frame of its video it is, or which picture of its list, and how many there are; a count
  // of 0: unknown.
  std::size_t index = 0, count = 0;
  std::uint64_t posted = 0;  // counts all frames
  // Counts sequences: the frames of one follow each other, without a jump to another position, and
  // are turned alike.
  std::uint64_t sequence = 0;
  FrameSource::Kind kind = FrameSource::Kind::video;  // of its source
  double capture_ms = 0;                              // the time to read it, without decode_ms
  double rate = 0;     // frames per second of its source; 0: it has none
  double seconds = 0;  // when it was taken: in a video, or else on the machine's clock

  // A picture stays until another one is asked for.
  bool is_still() const { return kind == FrameSource::Kind::picture; }
};

// One of the sources that are played one after the other.
struct PlaylistEntry {
  std::string source;  // as open_source() takes it
  std::string name;    // as shown: of a file in a folder, relative to that
};

// The sources with these names: cameras, streams, files, and in place of a folder its pictures and
// videos in the order of their names; "@FILE" stands for a list of paths. Throws InputError or
// UsageError for what cannot be read, unless other entries remain.
std::vector<PlaylistEntry> make_playlist(const std::vector<std::string>& names);

class Capture {
 public:
  struct State {
    std::vector<std::string> names;    // as passed to open()
    std::size_t entry = 0, count = 0;  // the source shown, and the number of all sources
    std::shared_ptr<const std::vector<PlaylistEntry>> list;  // null: none was opened
    std::uint64_t source = 0;  // counts the sources that were opened, see CapturedFrame
    std::string title;         // of the source shown
    bool is_opening = false;   // a list is being opened
    std::uint64_t lists = 0;   // counts the lists that were opened
    std::string refused;       // why the last requested list could not be opened; else empty
    std::string message;       // a problem with the source shown, or that the video has ended
    bool failed = false;       // the source shown or its frame could not be read
    std::optional<FrameSource::Kind> kind;  // nullopt: nothing is open
    double position = 0, length = 0;        // in a video
    double step = 1;                        // the distance between two frames
    bool playing = true, loops = true;
    bool exhausted = false;  // no more frames, unless another position or source is chosen
    double speed = 1;
    double slide_seconds = 3;  // how long a picture is shown while a list plays
    int quarter_turns = 0;     // clockwise, of every frame, until another list is opened
    bool mirrored = false;     // after that

    bool is_upright() const { return quarter_turns == 0 && !mirrored; }
    bool is_playing() const { return playing && !exhausted; }
    // Can it be played? A single picture cannot.
    bool is_playable() const { return kind && (kind != FrameSource::Kind::picture || count > 1); }
  };

  static constexpr std::string_view ended = "the video has ended";

  // Both are called by the capture thread: `post` with every frame, `admit` with every name before
  // it is opened. `admit` throws an Error if the source must not be opened.
  explicit Capture(
      std::function<void(CapturedFrame)> post,
      std::function<void(const std::string&)> admit = [](const std::string&) {});

  // All of these return at once; the thread carries them out before its next frame.
  // See make_playlist(). A list that begins with a picture waits to be played.
  void open(std::vector<std::string> names, const CameraMode& mode = {});
  void play(bool on);
  void loop(bool on);
  void set_speed(double factor);
  void set_slide_seconds(double seconds);
  void seek(double position);  // in the video shown
  void show(std::size_t entry);
  void skip(int entries);  // shows the source that many places from the one shown
  // What is shown, as it is seen: by a quarter turn clockwise; left and right exchanged. Not while
  // a camera or stream is paused, nor while a list is being opened.
  void rotate();
  void mirror();
  // In a video: pauses, and shows the frame that many frames from the one shown. Otherwise skips.
  void step(int frames);

  State state() const;
  // Why sources of the list could not be opened or read to their end, in the order of the list.
  std::vector<std::string> unreadable() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Orders {
    std::optional<std::vector<std::string>> open;
    CameraMode mode;
    std::optional<std::size_t> entry;
    std::optional<double> seek;
    bool jumps = false;  // the position was chosen, not stepped to

    bool any() const { return open || entry || seek; }
  };

  void run_once(const std::stop_token& stop);
  void wait_for_pace(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  Clock::time_point due() const;
  bool obey(const Orders& orders);
  bool open_list(const Orders& orders);
  void open_entry(std::size_t entry);
  void use(std::size_t entry, std::unique_ptr<FrameSource> source, const std::string& reason);
  void show_next(bool is_requested);
  std::optional<Frame> frame_of_following();
  void post(Frame frame);
  void fail(const std::string& reason);
  void restart_if_ended();
  bool can_turn() const;
  void show_again();
  bool plays() const { return state_.is_playable() && state_.is_playing(); }
  std::optional<std::size_t> following() const;  // the entry to be played after this one

  const std::function<void(CapturedFrame)> post_;
  const std::function<void(const std::string&)> admit_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Orders orders_;
  State state_;
  std::map<std::size_t, std::string> unreadable_;  // by the entry in the list

  // Used only by the thread.
  std::shared_ptr<const std::vector<PlaylistEntry>> list_;
  CameraMode mode_;
  std::unique_ptr<FrameSource> source_;                    // null: the entry could not be opened
  std::uint64_t opened_ = 0, posted_ = 0, sequences_ = 0;  // see CapturedFrame
  int turned_ = 0;                                         // how the last frame was
  Clock::time_point shown_;

  GuardedThread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app
