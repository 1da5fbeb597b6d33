#include "app/detect/process.hpp"

#include <new>

#include "app/errors.hpp"
#include "app/io/annotate.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"

namespace facesat::app {
namespace {

void write_pictures(const Item& item, View<const Bgr> picture, const DetectCommand& command) {
  const std::vector<FoundFace>& faces = item.record.faces;
  if (!command.annotate.empty()) {
    const std::filesystem::path file = std::filesystem::path(command.annotate) / item.picture_name;
    make_folder(file.parent_path());
    write_picture(file, with_boxes(picture, faces).view());
  }
  if (!command.crops.empty()) write_crops(command.crops, item.picture_name, picture, faces);
}

}  // namespace

void process(Item& item, Workers& workers, const DetectCommand& command) {
  Record& record = item.record;
  if (item.earlier || record.failure) return;
  try {
    const Picture picture = item.frame ? *item.frame : read_picture(item.path);
    item.frame.reset();
    record.size = picture.pixels.size;
    record.warning = picture.warning;
    record.faces = workers.detect(picture.pixels);
    write_pictures(item, picture.pixels, command);
  } catch (const InputError& error) {
    record.failure = Failure{error.kind, error.what()};
  } catch (const MemoryError& error) {
    record.failure = Failure{"memory", error.what()};
  } catch (const DeviceError& error) {
    record.failure = Failure{"device", error.what()};
  } catch (const std::bad_alloc&) {
    record.failure = Failure{"memory", "there is not enough memory for this picture"};
  } catch (const ArgumentError& error) {
    record.failure = Failure{"argument", error.what()};
  } catch (...) {
    item.output_error = std::current_exception();
  }
}

}  // namespace facesat::app
