// SPDX-License-Identifier: Apache-2.0
// What the target tells of its contexts and of the kernel's objects: names and facts in tasks
// frames (tracer/protocol/tasks.hpp), and records of what happened to them (protocol::TaskFact).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "tracer/protocol/tasks.hpp"

namespace nopscope::host {

// What a core tells of the task that it runs, and of others.
enum class TaskEvent : std::uint8_t {
    run,    // `data` is the context that runs from now on
    begin,  // a part begins, and the context runs already
    left,   // how the core left the context before: protocol::Left
    ready,  // the context may run
    waits,  // the context that runs waits for this object
    gap
};

// The facts in the last frame. It owns its name, which is outside text.
struct ContextFacts {
    std::string name;
    std::uint64_t priority = 0;
    std::uint64_t id = 0;
    std::uint64_t stack_low = 0;
    std::uint64_t stack_bytes = 0;  // 0: not known
    std::uint64_t stack_used = 0;
    bool runs_interrupts = false;
    bool has_ended = false;
};

struct TaskOfTarget {
    std::optional<ContextFacts> facts;
    std::uint64_t ready = 0;  // times that it was made ready
};

// How often a core left a context, by protocol::Left. A value of a later version counts as unknown.
using LeftCounts = std::array<std::uint64_t, static_cast<std::size_t>(protocol::Left::ended) + 1>;

struct ObjectOfTarget {
    std::optional<std::string> name;  // outside text
    std::uint64_t takes = 0;
    std::uint64_t gives = 0;
    std::uint64_t waits = 0;
};

class Tasks {
public:
    // Of the contexts, and of the objects; later ones are left out.
    static constexpr std::size_t max_entries = std::size_t{1} << 16;

    // Context 0 is each core's own. `core` is 0 for other contexts, which all cores may run.
    struct Key {
        std::uint64_t session = 0;
        std::uint32_t context = 0;
        unsigned core = 0;

        auto operator<=>(const Key&) const = default;
    };
    static Key key(std::uint64_t session, unsigned core, std::uint32_t context) {
        return {session, context, context == 0 ? core : 0};
    }
    struct ObjectKey {
        std::uint64_t session = 0;
        std::uint64_t id = 0;

        auto operator<=>(const ObjectKey&) const = default;
    };

    // False: malformed. Then nothing of the frame is taken.
    bool on_frame(std::uint64_t session, const std::uint8_t* payload, std::size_t count,
                  MemoryBudget& budget);
    // Core `core` left this context.
    void on_left(std::uint64_t session, unsigned core, std::uint32_t context, protocol::Left how,
                 MemoryBudget& budget);
    // A record of core `core` with one data record: ready, takes, gives or waits.
    void on_record(std::uint64_t session, unsigned core, protocol::TaskFact fact,
                   std::uint64_t data, MemoryBudget& budget);
    // All counts become 0. Facts and names stay. `budget`: another profile's.
    void zero(MemoryBudget& budget);

    // Null: the target told nothing.
    const TaskOfTarget* find(std::uint64_t session, unsigned core, std::uint32_t context) const;
    // The task's name, outside text; empty: it has none.
    std::string_view name(std::uint64_t session, unsigned core, std::uint32_t context) const;
    // Its name; else "context 7", for a core's own context "(core 0)", or "(unknown task)".
    std::string label(std::uint64_t session, unsigned core, std::uint32_t context) const;
    // True if the glob matches its name or its number.
    bool is_named(std::string_view glob, std::uint64_t session, unsigned core,
                  std::uint32_t context) const;
    std::vector<std::string> names() const;
    const std::map<Key, TaskOfTarget>& contexts() const { return tasks_; }
    // Null: there is no such record.
    const LeftCounts* left(std::uint64_t session, unsigned core, std::uint32_t context) const;
    const std::map<ObjectKey, ObjectOfTarget>& objects() const { return objects_; }
    // Facts and records of contexts and objects that found no room.
    std::uint64_t left_out() const { return left_out_; }

private:
    template <typename Entries>
    typename Entries::mapped_type* entry(Entries& entries, const typename Entries::key_type& key,
                                         MemoryBudget& budget);

    std::map<Key, TaskOfTarget> tasks_;
    std::map<Key, LeftCounts> left_;  // by core, whatever the context's number
    std::map<ObjectKey, ObjectOfTarget> objects_;
    std::uint64_t left_out_ = 0;
};

}  // namespace nopscope::host
