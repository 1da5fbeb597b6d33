// Writes the seed corpora for fuzzing: facesat_fuzz_seeds CASCADE_CORPUS READER_CORPUS
// ANNOTATIONS_CORPUS.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <png.h>
#if FACESAT_TIFF
#include <tiffio.h>
#endif

#include "tests/kit/cascades.hpp"
#include "tests/kit/encode.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::uintmax_t max_bytes = 64 << 10;  // larger files are mutated too slowly

void write(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

void write(const fs::path& file, const Bytes& bytes) {
  write(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// ---- cascades

void write_handwritten(const fs::path& corpus) {
  write(corpus / "stumps.xml", stump_cascade());
  write(corpus / "trees.xml", tree_cascade());
  write(corpus / "lbp.xml", lbp_cascade());
  write(corpus / "old.xml", old_cascade());
  write(corpus / "stumps.yml", yaml_cascade());
  write(corpus / "stumps.json", json_cascade());
  write(corpus / "stumps.yml.gz", gzip(yaml_cascade()));
}

void write_random(const fs::path& corpus) {
  // The kind of features, whether some are tilted, the nodes per tree.
  const CascadeShape shapes[] = {{FeatureKind::haar, true, 1},
                                 {FeatureKind::haar, true, 4},
                                 {FeatureKind::lbp, false, 1},
                                 {FeatureKind::lbp, false, 4}};
  for (unsigned seed = 0; seed < 16; ++seed)
    write(corpus / ("random-" + std::to_string(seed) + ".xml"),
          to_xml(random_cascade(seed, shapes[seed % 4])));
}

void copy_small(const fs::path& corpus) {
  for (const auto& entry : fs::recursive_directory_iterator(FACESAT_CASCADE_DIR))
    if (entry.path().extension() == ".xml" && entry.file_size() <= max_bytes)
      fs::copy_file(entry.path(), corpus / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
}

// ---- what the readers read

constexpr Size size{16, 8};

void write_pictures(const fs::path& corpus) {
  // EXIF data with orientation 6: the picture is to be rotated by 90 degrees.
  const Bytes baseline = encode_jpeg(size, {.orientation = 6}),
              progressive = encode_jpeg(size, {.progressive = true, .orientation = 6});
  write(corpus / "baseline.jpg", baseline);
  write(corpus / "progressive.jpg", progressive);
  write(corpus / "two.jpg", joined(baseline, progressive));
  write(corpus / "exif", "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"sv);
  write(corpus / "plain.png", encode_png(size, {PNG_COLOR_TYPE_RGB, 8}));
  for (const char kind : "123456"sv)
    write(corpus / ("p"s + kind + ".pnm"), encode_pnm(kind, size, 200, 1));
  for (const int bits : {1, 4, 8, 16, 24, 32})
    write(corpus / (std::to_string(bits) + ".bmp"), encode_bmp(size, {.bits = bits}));
  // Runs, unencoded pixels, the end of a row, a jump, the end; compression 1: of bytes, 2: of half
  // bytes.
  write(corpus / "rle8.bmp", encode_bmp(size, {.bits = 8, .compression = 1}, noise(1024, 2),
                                        bytes_of("\x10\1\0\0\3\2\0\3\1\2\3\0\0\2\4\1\0\1"sv)));
  write(corpus / "rle4.bmp", encode_bmp(size, {.bits = 4, .compression = 2}, noise(64, 2),
                                        bytes_of("\x10\x12\0\0\3\x21\0\5\1\2\3\0\0\2\4\1\0\1"sv)));
#if FACESAT_TIFF
  const auto write_tiff = [&](const char* name, TiffKind kind) {
    kind.orientation = 6;
    encode_tiff(corpus / name, size, kind);
  };
  write_tiff("plain.tif", {PHOTOMETRIC_RGB, 3, 8, COMPRESSION_NONE});
  write_tiff("wide.tif", {PHOTOMETRIC_MINISBLACK, 1, 16, COMPRESSION_ADOBE_DEFLATE});
  write_tiff("fax.tif", {PHOTOMETRIC_MINISWHITE, 1, 1, COMPRESSION_CCITTFAX4});
  write_tiff("ink.tif", {PHOTOMETRIC_SEPARATED, 4, 8, COMPRESSION_PACKBITS});
  TiffKind tiled{PHOTOMETRIC_RGB, 3, 8, COMPRESSION_LZW};
  tiled.tile = 16;
  write_tiff("tile.tif", tiled);
#endif
#if FACESAT_WEBP
  write(corpus / "lossy.webp", encode_webp(size, false, false, 50));
  write(corpus / "lossless.webp", encode_webp(size, false, true, 50));
#endif
}

void write_others(const fs::path& corpus) {
  write_tar(corpus / "members.tar",
            {{"./a.jpg", "a member"}, {std::string(200, 'n') + ".png", "a member"}});
  write(corpus / "video.mkv", "\x1A\x45\xDF\xA3\x82xx\x18\x53\x80\x67\x01\0\0\0\0\1\0\0"sv);
  const std::string faces =
      R"("width":64,"height":48,"faces":[{"x":1,"y":2,"width":30,"height":30,"neighbors":5,)"
      R"("score":3.5}])";
  const std::string record = R"({"image":"a.jpg",)" + faces + "}";
  write(corpus / "record", record);
  write(corpus / "records", record + "\n" + R"({"image":"v.avi","frame":0,"time":0.0,)" + faces +
                                R"(,"warning":"cut off"})" + "\n" +
                                R"({"image":"b.jpg","error":{"kind":"decode","message":"empty"}})" +
                                "\n");
  write(corpus / "rows", "image,x,y,w,h,neighbors,score\n\"a,\"\"b\n.jpg\",1,2,30,30,5,3.5\n");
  write(corpus / "journal",
        "facesat journal 1\ngeneration\t1\noption\t--scale-factor\t1.1\n\n"
        "120\t17\t0\t-\tdone\tlast\t99\t7\tpath /a\\tb.jpg\n"
        "240\t18\t1\t3\tfailed\tmore\t0\t0\tname v.avi\ncomplete\n");
}

// ---- annotations

void write_annotations(const fs::path& corpus) {
  write(corpus / "info.dat", "a b.jpg 2 1 2 30 40 5 6 7 8\n# none\nc.jpg 0\n");
  write(corpus / "boxes.csv",
        "image,x,y,w,h,label\n\"a,\"\"b.jpg\",1,2,30,40.5,face\nc.jpg,,,,,\n");
  write(corpus / "boxes.jsonl",
        "{\"image\":\"a.jpg\",\"width\":64,\"height\":48,\"faces\":[{\"x\":1,\"y\":2,\"width\":30,"
        "\"height\":30,\"cascade\":\"eye\"}]}\n");
  write(corpus / "coco.json",
        R"({"images":[{"id":1,"file_name":"a.jpg","width":64,"height":48}],)"
        R"("categories":[{"id":3,"name":"car"}],"annotations":[{"image_id":1,"category_id":3,)"
        R"("bbox":[1,2,30,40.5],"iscrowd":0,"segmentation":[[1,2,3]]}]})");
  write(corpus / "voc.xml",
        "<annotation><filename>a.jpg</filename><size><width>64</width><height>48</height></size>"
        "<object><name>car</name><difficult>0</difficult><bndbox><xmin>1</xmin><ymin>2</ymin>"
        "<xmax>30</xmax><ymax>40</ymax></bndbox></object></annotation>");
  write(corpus / "yolo.txt", "0 0.5 0.5 0.25 0.5\n1 0 0 0.5 0 0.5 0.5 0.25 0.75\n");
  write(corpus / "data.yaml", "path: .\nnames:\n  0: car\n  2: 'big bus'\nnc: 2\n");
  write(corpus / "list.yaml", "names: ['car', bus]\n");
  write(corpus / "list.txt", "images/a.jpg\nimages/b.jpg\n");
  write(corpus / "two.vec", "\2\0\0\0\4\0\0\0\0\0\0\0\0\1\0\2\0\3\0\xFF\0\0\0\0\0\0\0\0\x80\0"sv);
}

}  // namespace
}  // namespace facesat::test

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: facesat_fuzz_seeds CASCADE_CORPUS READER_CORPUS ANNOTATIONS_CORPUS\n";
    return 2;
  }
  try {
    using namespace facesat::test;
    for (const int corpus : {1, 2, 3}) std::filesystem::create_directories(arguments[corpus]);
    write_handwritten(arguments[1]);
    write_random(arguments[1]);
    copy_small(arguments[1]);
    write_pictures(arguments[2]);
    write_others(arguments[2]);
    write_annotations(arguments[3]);
  } catch (const std::exception& error) {
    std::cerr << "facesat_fuzz_seeds: " << error.what() << "\n";
    return 1;
  }
}
