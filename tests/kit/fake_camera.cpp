// A camera for tests: preloaded into a program, this library gives it a /dev/video0 that behaves
// like many webcams. Raw frames (YUYV) arrive fast if they are small and slowly if they are large;
// compressed ones (MJPG) always arrive fast.
//
// FACESAT_FAKE_CAMERA names a JPEG picture, which is every MJPG frame; raw frames are grey.
// FACESAT_FAKE_CAMERA_FRAMES is the number of frames before the camera is unplugged.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr char device[] = "/dev/video0";
constexpr int max_buffers = 8, max_width = 1280, max_height = 720;
constexpr std::size_t buffer_bytes = std::size_t{max_width} * max_height * 2;
constexpr unsigned fast = 30, slow = 5;  // frames per second

// The function of this name that the one in this library hides.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Camera {
  int descriptor = -1;
  std::vector<char> jpeg;
  unsigned width = 640, height = 480, format = V4L2_PIX_FMT_YUYV;
  std::vector<unsigned> queue;
  int frames_left = 1 << 30;

  unsigned rate() const { return format == V4L2_PIX_FMT_MJPEG || width <= 640 ? fast : slow; }
  unsigned bytes() const {
    return format == V4L2_PIX_FMT_MJPEG ? static_cast<unsigned>(jpeg.size()) : width * height * 2;
  }
};
Camera camera;

int open_camera() {
  std::ifstream in(std::getenv("FACESAT_FAKE_CAMERA"), std::ios::binary);
  camera = Camera();
  camera.jpeg.assign(std::istreambuf_iterator<char>(in), {});
  if (const char* count = std::getenv("FACESAT_FAKE_CAMERA_FRAMES"))
    camera.frames_left = std::atoi(count);
  // Its buffers are pages of a file, so that mmap() need not be replaced.
  camera.descriptor = memfd_create("camera", MFD_CLOEXEC);
  if (ftruncate(camera.descriptor, max_buffers * buffer_bytes) != 0) return -1;
  return camera.descriptor;
}

int fail(int reason) {
  errno = reason;
  return -1;
}

void describe(v4l2_pix_format& pix) {
  pix.width = camera.width;
  pix.height = camera.height;
  pix.pixelformat = camera.format;
  pix.field = V4L2_FIELD_NONE;
  pix.bytesperline = camera.format == V4L2_PIX_FMT_YUYV ? camera.width * 2 : 0;
  pix.sizeimage = buffer_bytes;
}

int set_format(v4l2_pix_format& pix) {
  if (pix.pixelformat == V4L2_PIX_FMT_YUYV || pix.pixelformat == V4L2_PIX_FMT_MJPEG)
    camera.format = pix.pixelformat;
  const bool is_large = pix.width > 640 || pix.height > 480;  // there are only two sizes
  camera.width = is_large ? max_width : 640;
  camera.height = is_large ? max_height : 480;
  describe(pix);
  return 0;
}

void describe(v4l2_buffer& buffer) {
  buffer.length = buffer_bytes;
  buffer.m.offset = static_cast<unsigned>(buffer.index * buffer_bytes);
  buffer.bytesused = camera.bytes();
}

int dequeue(v4l2_buffer& buffer) {
  if (camera.frames_left-- <= 0) return fail(ENODEV);
  if (camera.queue.empty()) return fail(EAGAIN);
  const timespec pause{0, 1'000'000'000 / camera.rate()};
  nanosleep(&pause, nullptr);
  buffer.index = camera.queue.front();
  camera.queue.erase(camera.queue.begin());
  describe(buffer);
  const std::vector<char> gray(camera.bytes(), static_cast<char>(128));
  const char* picture = camera.format == V4L2_PIX_FMT_MJPEG ? camera.jpeg.data() : gray.data();
  const ssize_t written = pwrite(camera.descriptor, picture, camera.bytes(),
                                 static_cast<off_t>(buffer.index * buffer_bytes));
  return written < 0 ? -1 : 0;
}

// Answers an ioctl() on the camera.
int control(unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP: {
      auto& about = *static_cast<v4l2_capability*>(argument);
      about = {};
      std::strcpy(reinterpret_cast<char*>(about.card), "A camera for tests");
      about.device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
      about.capabilities = about.device_caps | V4L2_CAP_DEVICE_CAPS;
      return 0;
    }
    case VIDIOC_G_FMT:
      describe(static_cast<v4l2_format*>(argument)->fmt.pix);
      return 0;
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT:
      return set_format(static_cast<v4l2_format*>(argument)->fmt.pix);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
      auto& capture = static_cast<v4l2_streamparm*>(argument)->parm.capture;
      capture.capability = V4L2_CAP_TIMEPERFRAME;
      capture.timeperframe = {1, camera.rate()};
      return 0;
    }
    case VIDIOC_REQBUFS: {
      auto& wanted = *static_cast<v4l2_requestbuffers*>(argument);
      wanted.count = std::min<unsigned>(wanted.count, max_buffers);
      camera.queue.clear();
      return 0;
    }
    case VIDIOC_QUERYBUF:
      describe(*static_cast<v4l2_buffer*>(argument));
      return 0;
    case VIDIOC_QBUF:
      camera.queue.push_back(static_cast<v4l2_buffer*>(argument)->index);
      return 0;
    case VIDIOC_DQBUF:
      return dequeue(*static_cast<v4l2_buffer*>(argument));
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return 0;
    default:
      return fail(EINVAL);
  }
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  if (std::strcmp(path, device) == 0) return open_camera();
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (descriptor >= 0 && descriptor == camera.descriptor) return control(request, argument);
  return next<int(int, unsigned long, ...)>("ioctl")(descriptor, request, argument);
}

int stat(const char* path, struct stat* about) {
  if (std::strcmp(path, device) == 0) path = "/dev/null";  // a character device, as a camera is
  return next<int(const char*, struct stat*)>("stat")(path, about);
}

}  // extern "C"
