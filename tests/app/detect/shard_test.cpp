// --shard: several runs share the inputs, and their results together are those of a single run.
#include "results/shard.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "app/detect/shard_choice.hpp"
#include "support/errors.hpp"
#include "tests/kit/sixty_pictures.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
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
    EXPECT_NE(text.find("give --shard I/N"), text.npos) << text;
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

  using Lines = std::multiset<std::string>;
  static Lines lines_of(const std::string& text) {
    std::istringstream in(text);
    Lines lines;
    for (std::string line; std::getline(in, line);) lines.insert(line);
    return lines;
  }

  static std::string shard(int index, int count) {
    return std::to_string(index) + "/" + std::to_string(count);
  }

  // The records of all shards together.
  Lines of_shards(int count, std::vector<std::string> arguments, const std::string& input = "") {
    Lines all;
    arguments.insert(arguments.begin(), {"--shard", ""});
    for (int i = 0; i < count; ++i) {
      arguments[1] = shard(i, count);
      all.merge(lines_of(detect(arguments, input).out));
    }
    return all;
  }
};

// Of failures, too: of pictures, missing files, folders and lists.
TEST_F(Shards, TogetherHaveTheRecordsOfASingleRun) {
  using namespace std::string_literals;
  write_text(folder / "list.txt", "in/1003.pgm\nin/1003.pgm\nnowhere.pgm\nin\nb\0ad\n"s);
  write_text(folder / "file/a.txt", "no folder");
  const std::vector<std::string> inputs{"in", "missing", "@list.txt", "file/a.txt/b", "-"};
  const std::string input = "in/1005.pgm\nmissing too\n";
  const Finished single = detect(inputs, input);
  EXPECT_EQ(single.status, 1);
  EXPECT_GT(single.records().size(), 2u * pictures + 5);
  for (const int count : {1, 2, 3, 7})
    EXPECT_EQ(of_shards(count, inputs, input), lines_of(single.out)) << count;
}

TEST_F(Shards, HaveOnlyInputsOfTheirOwnInOrder) {
  const auto all = detect({"in"}).records();
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    const Finished done = run({"detect", "--shard", shard(i, 3), "in"});
    EXPECT_NE(done.err.find(" (shard " + std::to_string(i) + " of 3)"), std::string::npos)
        << done.err;
    std::vector<nlohmann::ordered_json> expected;
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
      const Finished done =
          detect({"--shard", shard(other, 2), "--format", format, "-o", format, "one"});
      EXPECT_EQ(done.status, 0) << done.err;
      EXPECT_EQ(lines_of(read_text(folder / format)).size(), *format == 'c' ? 1u : 0u);
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
  write_text(folder / "list.txt", list);
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
  EXPECT_EQ(read_text(folder / "r-1-of-3.jsonl"), expected);
  const auto start_rank = [&](const std::vector<std::string>& arguments,
                              const std::string& input = "") {
    return run(arguments, input, [] {
      ::setenv("OMPI_COMM_WORLD_RANK", "2", 1);
      ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    });
  };
  EXPECT_EQ(start_rank({"detect", "-q", "--shard", "auto", "-o", "{shard}.jsonl", "in"}).status, 1);
  EXPECT_EQ(read_text(folder / "2-of-3.jsonl"), detect({"--shard", "2/3", "in"}).out);
  const Finished same = start_rank({"detect", "--shard", "auto", "-o", "one.jsonl", "in"});
  EXPECT_EQ(same.status, 2);
  EXPECT_NE(same.err.find("the 3 ranks of --shard auto would write into one file"),
            std::string::npos)
      << same.err;
  EXPECT_FALSE(fs::exists(folder / "one.jsonl"));
  const Finished from_input = start_rank({"detect", "--shard", "auto", "-"}, "in/1003.pgm\n");
  EXPECT_EQ(from_input.status, 2);
  EXPECT_NE(from_input.err.find("standard input may reach only one"), std::string::npos);
  EXPECT_EQ(start_rank({"detect", "-q", "--shard", "auto", "in"}).out,
            read_text(folder / "2-of-3.jsonl"));
}

TEST_F(Shards, WrongOnesAreRefused) {
  for (const char* text :
       {"3/3", "0/0", "1", "/", "1/", "/2", "-1/2", "1/2/3", "a/b", "Auto", "1 /2", "0x1/2"}) {
    const Finished done = detect({"--shard", text, "in"});
    EXPECT_EQ(done.status, 2) << text;
    EXPECT_NE(done.err.find("--shard: expected I/N"), std::string::npos) << done.err;
  }
  const Finished alone = detect({"--shard", "auto", "in"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.err.find("--shard auto: no variable of Slurm"), std::string::npos) << alone.err;
}

TEST_F(Shards, AreResumedOnlyAsTheyWereBegun) {
  const auto run_shard = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"-o", "r"};
    all.insert(all.end(), more.begin(), more.end());
    all.emplace_back("in");
    return detect(all);
  };
  EXPECT_EQ(run_shard({"--shard", "1/3"}).status, 1);
  const std::string before = read_text(folder / "r");
  for (const char* other : {"2/3", "1/4", "0/1"}) {
    const Finished done = run_shard({"--shard", other, "--resume"});
    EXPECT_EQ(done.status, 2);
    EXPECT_NE(done.err.find("r was begun with --shard 1/3, now it is "), std::string::npos)
        << done.err;
    EXPECT_EQ(read_text(folder / "r"), before);
  }
  EXPECT_EQ(run_shard({"--resume"}).status, 2);
  EXPECT_EQ(run_shard({"--shard", "1/3", "--resume"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), before);
  fs::remove(folder / "r");
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
    write_pgm(folder / "in" / (last + ".pgm"), draw_faces({2400, 2400}, {{300, 300, 100}}));
    const Lines single = lines_of(detect({"in"}).out);
    const auto arguments = [&](int index) {
      return std::vector<std::string>{
          "detect", "-q", "-j", "1", "--shard", shard(index, count), "-o", "r-{shard}.jsonl", "in"};
    };
    const std::size_t least = 1 + random() % 14;
    const Running running = start(arguments(victim));
    while (lines_of(read_text(folder / out(victim))).size() < least)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().status, 128 + SIGKILL) << "seed " << seed;
    Lines all;
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> again = arguments(i);
      if (i == victim) again.insert(again.begin() + 1, "--resume");
      EXPECT_LE(run(again).status, 1);
      all.merge(lines_of(read_text(folder / out(i))));
    }
    EXPECT_EQ(all, single) << "seed " << seed;
    for (int i = 0; i < count; ++i)
      for (const char* end : {"", ".resume"}) fs::remove(folder / (out(i) + end));
    fs::remove(folder / "in" / (last + ".pgm"));
  }
}

}  // namespace
}  // namespace facesat::test
