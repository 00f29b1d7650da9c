// SPDX-License-Identifier: Apache-2.0
// LevelDB with four threads: FOLDER ROUNDS. Each writes keys of its own, reads them and some of the
// others', and walks over a snapshot now and then; the buffer is so small that the library compacts
// in a thread of its own meanwhile. What is printed does not depend on the order of the threads.
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr size_t kValue = 2000, kBuffer = 64 << 10;

void Check(const leveldb::Status &status) {
    if (status.ok())
        return;
    std::fprintf(stderr, "leveldb_threads: %s\n", status.ToString().c_str());
    std::exit(1);
}

std::string Key(int writer, int round) {
    return std::to_string(round) + "/" + std::to_string(writer);
}

// Each round writes two keys at once: a walk sees both or neither.
int Walk(leveldb::DB *base) {
    leveldb::ReadOptions options;
    options.snapshot = base->GetSnapshot();
    std::unique_ptr<leveldb::Iterator> at(base->NewIterator(options));
    int count = 0;
    for (at->SeekToFirst(); at->Valid(); at->Next())
        count++;
    Check(at->status());
    at.reset();
    base->ReleaseSnapshot(options.snapshot);
    return count;
}

void Work(leveldb::DB *base, int me, int rounds) {
    std::string value;
    for (int round = 0; round < rounds; round++) {
        leveldb::WriteBatch batch;
        batch.Put(Key(me, round), std::string(kValue, static_cast<char>('a' + me)));
        batch.Put("twin/" + Key(me, round), "");
        Check(base->Write(leveldb::WriteOptions(), &batch));
        Check(base->Get(leveldb::ReadOptions(), Key(me, round), &value));
        base->Get(leveldb::ReadOptions(), Key((me + 1) % kThreads, round), &value);
        if (round % 4 == 0 && Walk(base) % 2 != 0)
            Check(leveldb::Status::Corruption("half of a batch was seen"));
    }
}

} // namespace

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    int rounds = std::atoi(arguments[2]);
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = kBuffer;
    leveldb::DB *opened;
    Check(leveldb::DB::Open(options, arguments[1], &opened));
    std::unique_ptr<leveldb::DB> base(opened);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
        threads.emplace_back(Work, base.get(), i, rounds);
    for (std::thread &thread : threads)
        thread.join();
    base->CompactRange(nullptr, nullptr);
    std::printf("%d\n", Walk(base.get()));
    return 0;
}
