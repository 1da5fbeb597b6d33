// However the inputs are stored and the work is divided, the results together are those of a single
// run: --shard, archives, the ranks of mpirun.
#include "results/shard.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <regex>

#include <fmt/format.h>

#include "app/detect/shard_choice.hpp"
#include "support/errors.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Variables = std::map<std::string, std::string>;

// What parse_shard("auto") makes of the variables: "2/8", or its error.
std::string shard_from(const Variables& variables) {
  try {
    return to_text(app::parse_shard("auto", [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    }));
  } catch (const UsageError& error) {
    return error.what();
  }
}

// The hash is part of the contract: shards of one run may be processed by different versions.
TEST(Shard, HashesNamesAsEverywhereElse) {
  EXPECT_EQ(name_hash(""), 0xEFD01F60BA992926);
  EXPECT_EQ(name_hash("a.jpg"), 0x57E45B66C4C401A7);
  EXPECT_EQ(name_hash("photos/b.jpg"), 0xD913C7C8E18C40A2);
  EXPECT_EQ(name_hash("x.tar/000.jpg"), 0x130DF1CE7B92F983);
}

TEST(Shard, NumberedNamesAreDividedEvenly) {
  constexpr int names = 10000;
  for (const std::uint64_t count : {2, 3, 8, 100}) {
    std::map<std::uint64_t, int> sizes;
    for (int i = 0; i < names; ++i) ++sizes[name_hash(std::to_string(i * 10) + ".jpg") % count];
    const int fair = names / static_cast<int>(count);
    for (std::uint64_t index = 0; index < count; ++index) {
      EXPECT_GT(sizes[index], fair / 2) << index << "/" << count;
      EXPECT_LT(sizes[index], fair * 2) << index << "/" << count;
    }
  }
}

TEST(Shard, RanksComeFromWhoeverStartedThem) {
  const Variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
      pmi{{"PMI_RANK", "2"}, {"PMI_SIZE", "5"}},
      tasks{{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "6"}},
      job_script{{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}},
      element{{"SLURM_ARRAY_TASK_ID", "14"},
              {"SLURM_ARRAY_TASK_MIN", "10"},
              {"SLURM_ARRAY_TASK_MAX", "18"},
              {"SLURM_ARRAY_TASK_STEP", "2"},
              {"SLURM_ARRAY_TASK_COUNT", "5"}};
  const auto all = [](std::initializer_list<Variables> sets) {
    Variables result;
    for (const Variables& set : sets) result.insert(set.begin(), set.end());
    return result;
  };
  EXPECT_EQ(shard_from(open_mpi), "1/4");
  EXPECT_EQ(shard_from(pmi), "2/5");
  EXPECT_EQ(shard_from(tasks), "3/6");
  EXPECT_EQ(shard_from(element), "2/5");
  // mpirun within a job: its ranks are what the user started.
  EXPECT_EQ(shard_from(all({open_mpi, job_script, tasks})), "1/4");
  EXPECT_EQ(shard_from(all({pmi, tasks})), "2/5");
  EXPECT_EQ(shard_from(all({open_mpi, pmi})), "1/4");
  // A job array: one process for each element, or several.
  EXPECT_EQ(shard_from(all({element, job_script, tasks})), "2/5");
  EXPECT_EQ(shard_from(all({element, tasks, {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}}})),
            "15/30");
  EXPECT_EQ(shard_from(all({element, open_mpi, job_script})), "9/20");
  // A job step of fewer tasks than the job.
  EXPECT_EQ(shard_from(all({{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}, tasks})),
            "1/2");
  // A job's script that is a single task.
  EXPECT_EQ(shard_from(job_script), "0/1");
  EXPECT_EQ(shard_from(all({job_script, {{"SLURM_NTASKS", "1"}}})), "0/1");
}

TEST(Shard, VariablesThatContradictEachOtherAreRefused) {
  const auto expect = [](const Variables& variables, const std::string& said) {
    const std::string text = shard_from(variables);
    EXPECT_TRUE(text.starts_with("--shard auto: ") && text.find(said) != text.npos) << text;
    EXPECT_TRUE(has(text, "give --shard I/N"));
  };
  const auto element = [](const char* id, const char* least, const char* most, const char* count) {
    return Variables{{"SLURM_ARRAY_TASK_ID", id},
                     {"SLURM_ARRAY_TASK_MIN", least},
                     {"SLURM_ARRAY_TASK_MAX", most},
                     {"SLURM_ARRAY_TASK_STEP", "1"},
                     {"SLURM_ARRAY_TASK_COUNT", count}};
  };
  expect({}, "no variable");
  expect({{"PMIX_RANK", "0"}}, "no variable");
  expect({{"OMPI_COMM_WORLD_RANK", "1"}}, "OMPI_COMM_WORLD_SIZE is missing");
  expect({{"PMI_SIZE", "4"}}, "PMI_RANK is missing");
  expect({{"SLURM_PROCID", "4"}, {"SLURM_NTASKS", "4"}},
         "SLURM_PROCID is 4, but SLURM_NTASKS is 4");
  expect({{"SLURM_PROCID", "-1"}, {"SLURM_NTASKS", "4"}}, "SLURM_PROCID is \"-1\", not a number");
  expect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", ""}}, "SLURM_NTASKS is \"\", not a number");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}},
         "SLURM_NTASKS is 8, but srun has not started this process");
  expect({{"SLURM_ARRAY_TASK_ID", "3"}}, "SLURM_ARRAY_TASK_MIN is missing");
  expect(element("3", "4", "6", "3"), "no place");
  expect(element("7", "4", "6", "3"), "no place");
  expect(element("3", "1", "7", "3"), "no place");  // --array=1,3,7
  expect(element("0", "0", "0", "0"), "no place");
}

class Shards : public SixtyPictures {
 protected:
  // Not those of a Slurm job or an mpirun in which the tests themselves run.
  Shards() {
    for (const char* name :
         {"SLURM_ARRAY_TASK_ID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS",
          "SLURM_JOB_ID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
      ::unsetenv(name);
  }

  static std::string shard(int index, int count) {
    return std::to_string(index) + "/" + std::to_string(count);
  }

  // The records of all shards together.
  std::vector<std::string> of_shards(int count, const Arguments& inputs, const std::string& input) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += detect(joined({"--shard", shard(i, count)}, inputs), input).out;
    return sorted_lines(all);
  }
};

// Of failures, too: of pictures, missing files, folders and lists.
TEST_F(Shards, TogetherHaveTheRecordsOfASingleRun) {
  using namespace std::string_literals;
  write_text("list.txt", "in/1003.pgm\nin/1003.pgm\nnowhere.pgm\nin\nb\0ad\n"s);
  write_text("file/a.txt", "no folder");
  const Arguments inputs{"in", "missing", "@list.txt", "file/a.txt/b", "-"};
  const std::string input = "in/1005.pgm\nmissing too\n";
  const Finished single = detect(inputs, input);
  EXPECT_EQ(single.status, 1);
  EXPECT_GT(single.records().size(), 2u * pictures + 5);
  for (const int count : {1, 2, 3, 7})
    EXPECT_EQ(of_shards(count, inputs, input), sorted_lines(single.out)) << count;
}

TEST_F(Shards, HaveOnlyInputsOfTheirOwnInOrder) {
  const auto all = detect({"in"}).records();
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    const Finished done = run({"detect", "--shard", shard(i, 3), "in"});
    EXPECT_TRUE(has(done.err, " (shard " + std::to_string(i) + " of 3)"));
    std::vector<Json> expected;
    for (const auto& record : all)
      if (name_hash(record["image"].get<std::string>()) % 3 == static_cast<unsigned>(i))
        expected.push_back(record);
    EXPECT_EQ(done.records(), expected);
    EXPECT_GT(expected.size(), 10u);
    found += expected.size();
  }
  EXPECT_EQ(found, all.size());
}

// Its earlier results may be replaced, too.
TEST_F(Shards, AShardWithoutInputsIsComplete) {
  for (const char* format : {"csv", "jsonl"})
    for (int attempt = 0; attempt < 2; ++attempt) {
      add_face("one/a.pgm");
      const int other = name_hash("a.pgm") % 2 == 0 ? 1 : 0;
      EXPECT_EQ(
          detect({"--shard", shard(other, 2), "--format", format, "-o", format, "one"}).status, 0);
      EXPECT_EQ(sorted_lines(read_text(format)).size(), *format == 'c' ? 1u : 0u);
    }
}

// Names of pictures depend on the other inputs: here several have the same.
TEST_F(Shards, WriteThePicturesOfASingleRun) {
  std::string list;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "p" + std::to_string(i) + "/a.pgm";
    add_face(name, i);
    list += "./in/../" + name + "\n";
  }
  write_text("list.txt", list);
  detect({"--annotate", "single", "--crops", "single-crops", "@list.txt"});
  for (int i = 0; i < 4; ++i)
    detect({"--shard", shard(i, 4), "--annotate", "parts", "--crops", "parts-crops", "@list.txt"});
  for (const std::string what : {"", "-crops"}) {
    const auto files = files_below("single" + what);
    EXPECT_EQ(files.size(), 12u);
    ASSERT_EQ(files_below("parts" + what), files);
    for (const std::string& file : files)
      EXPECT_EQ(read_text(folder / ("parts" + what) / file),
                read_text(folder / ("single" + what) / file));
  }
}

TEST_F(Shards, OutputsAreNamedAfterThem) {
  const std::string expected = detect({"--shard", "1/3", "in"}).out;
  detect({"--shard", "1/3", "-o", "r-{shard}.jsonl", "in"});
  EXPECT_EQ(read_text("r-1-of-3.jsonl"), expected);
  const auto start_rank = [&](const Arguments& arguments, const std::string& input = "") {
    return run(arguments, input, [] {
      ::setenv("OMPI_COMM_WORLD_RANK", "2", 1);
      ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    });
  };
  EXPECT_EQ(start_rank({"detect", "-q", "--shard", "auto", "-o", "{shard}.jsonl", "in"}).status, 1);
  EXPECT_EQ(read_text("2-of-3.jsonl"), detect({"--shard", "2/3", "in"}).out);
  EXPECT_TRUE(ended(start_rank({"detect", "--shard", "auto", "-o", "one.jsonl", "in"}), 2,
                    "the 3 ranks of --shard auto would write into one file"));
  EXPECT_FALSE(exists("one.jsonl"));
  EXPECT_TRUE(ended(start_rank({"detect", "--shard", "auto", "-"}, "in/1003.pgm\n"), 2,
                    "standard input may reach only one"));
  EXPECT_EQ(start_rank({"detect", "-q", "--shard", "auto", "in"}).out, read_text("2-of-3.jsonl"));
}

TEST_F(Shards, WrongOnesAreRefused) {
  for (const char* text :
       {"3/3", "0/0", "1", "/", "1/", "/2", "-1/2", "1/2/3", "a/b", "Auto", "1 /2", "0x1/2"}) {
    EXPECT_TRUE(ended(detect({"--shard", text, "in"}), 2, "--shard: expected I/N")) << text;
  }
  EXPECT_TRUE(ended(detect({"--shard", "auto", "in"}), 2, "--shard auto: no variable of Slurm"));
}

TEST_F(Shards, AreResumedOnlyAsTheyWereBegun) {
  const auto run_shard = [&](const Arguments& more) {
    return detect(joined({"-o", "r", "in"}, more));
  };
  EXPECT_EQ(run_shard({"--shard", "1/3"}).status, 1);
  const std::string before = read_text("r");
  for (const char* other : {"2/3", "1/4", "0/1"}) {
    EXPECT_TRUE(ended(run_shard({"--shard", other, "--resume"}), 2,
                      "r was begun with --shard 1/3, now it is "));
    EXPECT_EQ(read_text("r"), before);
  }
  EXPECT_EQ(run_shard({"--resume"}).status, 2);
  EXPECT_EQ(run_shard({"--shard", "1/3", "--resume"}).status, 1);
  EXPECT_EQ(read_text("r"), before);
  remove({"r"});
  EXPECT_EQ(run_shard({}).status, 1);
  EXPECT_EQ(run_shard({"--shard", "1/3", "--resume"}).status, 2) << "begun without shards";
}

// One of several shards is killed at a seeded moment. A large picture comes last, so that the run
// has not ended by then. FACESAT_KILLS: how often.
TEST_F(Shards, AKilledOneIsCompletedByResume) {
  constexpr int count = 3;
  const char* const wanted = std::getenv("FACESAT_KILLS");
  const int kills = wanted ? std::atoi(wanted) : 1;
  const auto out = [](int index) { return "r-" + std::to_string(index) + "-of-3.jsonl"; };
  for (unsigned seed = 0; seed < static_cast<unsigned>(kills); ++seed) {
    std::mt19937 random(seed);
    const int victim = static_cast<int>(random() % count);
    std::string last = "z";
    while (name_hash(last + ".pgm") % count != static_cast<unsigned>(victim)) last += "z";
    write_pgm("in/" + last + ".pgm", draw_faces({2400, 2400}, {{300, 300, 100}}));
    const auto single = sorted_lines(detect({"in"}).out);
    const auto arguments = [&](int index) {
      return Arguments{"-j", "1", "--shard", shard(index, count), "-o", "r-{shard}.jsonl", "in"};
    };
    const std::size_t least = 1 + random() % 14;
    const Running running = start(joined({"detect", "-q"}, arguments(victim)));
    EXPECT_TRUE(eventually([&] { return sorted_lines(read_text(out(victim))).size() >= least; }));
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().status, 128 + SIGKILL) << "seed " << seed;
    std::string all;
    for (int i = 0; i < count; ++i) {
      EXPECT_LE(detect(joined(arguments(i), {i == victim ? "--resume" : "-q"})).status, 1);
      all += read_text(out(i));
      remove({out(i), out(i) + ".resume"});
    }
    EXPECT_EQ(sorted_lines(all), single) << "seed " << seed;
    remove({"in/" + last + ".pgm"});
  }
}

class SameResults : public SixtyPictures {
 protected:
  SameResults() {
    for (int i = 0; i < pictures; ++i)  // some in a folder of their own, as in an archive
      if (i % 3 == 0) {
        fs::create_directory(folder / "in/sub");
        fs::rename(folder / name(i), folder / "in/sub" / fs::path(name(i)).filename());
      }
  }

  // Runs a command of the shell in the folder.
  int shell(const std::string& command) const {
    return std::system(fmt::format("cd '{}' && {}", folder.string(), command).c_str());
  }

  // The records in all of these files, sorted, their names without all up to ".tar/".
  std::vector<std::string> records_in(const Names& files) const {
    std::string all;
    for (const std::string& file : files) all += read_text(file);
    return sorted_lines(
        std::regex_replace(all, std::regex("\"image\":\"[^\"]*\\.tar/"), "\"image\":\""));
  }
  std::vector<std::string> records_of_shards(int count, const std::string& prefix) const {
    Names files;
    for (int i = 0; i < count; ++i)
      files.push_back(fmt::format("{}-{}-of-{}.jsonl", prefix, i, count));
    return records_in(files);
  }
  std::vector<std::string> of_single_run() const {
    EXPECT_EQ(detect({"-r", "-o", "single.jsonl", "in"}).status, 1);  // some are broken
    const auto records = records_in({"single.jsonl"});
    EXPECT_EQ(records.size(), std::size_t{pictures});
    return records;
  }
};

TEST_F(SameResults, OfTheRanksOfMpirun) {
  if (shell("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "skipped: there is no mpirun";
  const auto single = of_single_run();
  write_tar(folder / "x.tar", members_of_folder(folder / "in"));
  const auto ranks = [&](const std::string& output, const std::string& inputs) {
    // The ranks end with 1, because some pictures are broken, and mpirun ends the others then.
    return shell(
        fmt::format("mpirun --allow-run-as-root --oversubscribe --mca plm isolated -n 4 sh -c "
                    "\"'{}' detect -q --shard auto -o '{}-{{shard}}.jsonl' {} || true\" 2> said",
                    FACESAT_PROGRAM, output, inputs));
  };
  EXPECT_EQ(ranks("rank", "-r in"), 0) << read_text("said");
  EXPECT_EQ(records_of_shards(4, "rank"), single);
  EXPECT_EQ(ranks("tar", "x.tar"), 0) << read_text("said");
  EXPECT_EQ(records_of_shards(4, "tar"), single);
}

}  // namespace
}  // namespace facesat::test
