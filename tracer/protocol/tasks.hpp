// SPDX-License-Identifier: Apache-2.0
// Tasks: the names and facts of contexts, and the names of the kernel's objects
// (docs/trace-format.md).
//
//     to the end, for each of some contexts and objects:
//       what u8      Named
//       size varint  bytes that follow; later versions may add some
//       context:  number varint, core varint (it runs or last ran on; plus 1; 0: it has not run),
//                 flags varint (TaskFlag), priority varint, id varint, stack_low varint,
//                 stack_bytes varint (0: not known), stack_used varint, name
//       object:   id varint, name
//       name:     size varint, bytes
//
// The target repeats all of them, so a later frame replaces a lost one.
#pragma once

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

enum class Named : std::uint8_t { context = 0, object = 1 };

enum TaskFlag : std::uint8_t { runs_interrupts = 1, has_ended = 2 };

inline constexpr std::size_t max_task_name = 31;  // bytes

// The bytes of a name up to its zero byte, or all.
struct TaskName {
    const Byte* bytes = nullptr;
    std::size_t size = 0;  // at most max_task_name
};

struct TaskFacts {
    std::uint32_t number = 0;  // the context's; 0: the main context of `core`
    std::uint32_t core = 0;
    std::uint64_t flags = 0;
    std::uint64_t priority = 0;
    std::uint64_t id = 0;  // the firmware's
    std::uint64_t stack_low = 0;
    std::uint64_t stack_bytes = 0;
    std::uint64_t stack_used = 0;  // to the lowest SP in a hooked call; 0: not known
    TaskName name;
};

// An object's id is that of the records that name it.
struct ObjectName {
    std::uint64_t id = 0;
    TaskName name;
};

inline constexpr std::size_t max_named_bytes = 2 + 8 * max_varint_bytes + 1 + max_task_name;

static_assert(max_named_bytes < 0x80, "a size of one byte");

class TasksWriter {
public:
    explicit constexpr TasksWriter(Byte* payload) : payload_(payload), out_(payload) {}
    constexpr void put(const TaskFacts& facts) {
        const std::size_t from = begin(Named::context);
        out_.varint(facts.number);
        out_.varint(facts.core);
        out_.varint(facts.flags);
        out_.varint(facts.priority);
        out_.varint(facts.id);
        out_.varint(facts.stack_low);
        out_.varint(facts.stack_bytes);
        out_.varint(facts.stack_used);
        end(from, facts.name);
    }
    constexpr void put(const ObjectName& object) {
        const std::size_t from = begin(Named::object);
        out_.varint(object.id);
        end(from, object.name);
    }
    constexpr std::size_t size() const { return out_.size(); }

private:
    // Returns where the fields begin, behind their size.
    constexpr std::size_t begin(Named what) {
        out_.fixed(static_cast<std::uint8_t>(what));
        out_.fixed(std::uint8_t{0});
        return out_.size();
    }
    constexpr void end(std::size_t from, const TaskName& name) {
        out_.varint(name.size);
        out_.bytes(name.bytes, name.size);
        payload_[from - 1] = static_cast<Byte>(out_.size() - from);
    }

    Byte* payload_;
    Writer out_;
};

// Calls take(TaskFacts) or take(ObjectName) for each. False: the payload is malformed.
template <typename Take>
bool read_tasks(const Byte* payload, std::size_t count, Take take) {
    Reader in(payload, count);
    while (in.left() != 0) {
        const auto what = in.fixed<std::uint8_t>();
        const std::uint64_t size = in.varint();
        if (size > in.left()) return false;
        Reader one(in.bytes(size), size);
        const auto read_name = [&one] {
            const std::uint64_t bytes = one.varint();
            const Byte* const from = bytes <= max_task_name ? one.bytes(bytes) : nullptr;
            return TaskName{from, from != nullptr ? static_cast<std::size_t>(bytes) : 0};
        };
        if (what == static_cast<std::uint8_t>(Named::context)) {
            TaskFacts facts;
            const std::uint64_t number = one.varint(), core = one.varint();
            facts.number = static_cast<std::uint32_t>(number);
            facts.core = static_cast<std::uint32_t>(core);
            facts.flags = one.varint();
            facts.priority = one.varint();
            facts.id = one.varint();
            facts.stack_low = one.varint();
            facts.stack_bytes = one.varint();
            facts.stack_used = one.varint();
            facts.name = read_name();
            if (!one.ok() || facts.name.bytes == nullptr || number > argument_mask || core > 256)
                return false;
            take(facts);
        } else if (what == static_cast<std::uint8_t>(Named::object)) {
            ObjectName object;
            object.id = one.varint();
            object.name = read_name();
            if (!one.ok() || object.name.bytes == nullptr) return false;
            take(object);
        }
    }
    return in.ok();
}

}  // namespace nopscope::protocol
