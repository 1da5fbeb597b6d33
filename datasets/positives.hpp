// Samples of the object that a cascade is to find, from pictures in which it is marked or alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/annotations.hpp"
#include "media/codec.hpp"
#include "training/distortion.hpp"
#include "training/object_samples.hpp"

namespace facesat::training {

struct PositiveOptions {
  SampleOptions samples;
  Reading reading =
      Reading::colour;   // luma: JPEGs become grey as `facesat detect --luma` reads them
  std::size_t most = 0;  // objects; 0: all
  // If its number of copies is not 0, only these become samples, and their mirror images if
  // samples.mirror is set.
  DistortionOptions distortion;
  // Backgrounds of distorted copies: see NegativeSources::inputs. None: the grey value that is
  // transparent, or else black.
  std::vector<std::string> backgrounds;
  AnnotationOptions annotations;
};

struct PositiveReport {
  std::size_t pictures = 0;  // that could be read; samples of a .vec file count as such
  std::size_t objects = 0;   // that became samples
  std::size_t samples = 0;
  std::size_t ignored = 0;    // objects that are difficult, crowds, or have other labels
  std::size_t refused = 0;    // pictures that cannot be read, and objects outside their pictures
  std::size_t cut = 0;        // objects that reach beyond their pictures, of which the rest is used
  std::size_t enlarged = 0;   // objects smaller than half the window in one direction
  std::size_t stretched = 0;  // objects stretched by more than a quarter (Aspect::stretch)
  std::vector<std::string> sentences;  // the reasons: the first few

  std::string text() const;  // lines for the user
};

struct Positives : ObjectSamples {
  PositiveReport report;
};

// Reads objects from sources, each of which is one of:
//   annotations (see read_annotations): every object that is not ignored, cut out of its picture;
//   a .vec file;
//   a picture, a folder of pictures and folders, a .tar archive, or "@LIST" of paths: every picture
//   is an object as a whole.
// Pictures are decoded by all threads of oneTBB; the samples are the same for any number of them,
// in the order of the sources. Throws UsageError for a source that cannot be read, and for
// backgrounds that are all unusable; MemoryError.
Positives read_positives(const std::vector<std::string>& sources, const PositiveOptions& options);

}  // namespace facesat::training
