// SPDX-License-Identifier: Apache-2.0
// Makes frames of the contexts' and objects' facts for the pump: soon after a change, at once if
// several contexts have ended, all of them every few seconds, and with each snapshot.
#pragma once

#include "tracer/core/stop_reasons.hpp"
#include "tracer/protocol/tasks.hpp"
#include "tracer/recorders/all_contexts.hpp"

#ifndef NOPSCOPE_OBJECT_NAMES
#define NOPSCOPE_OBJECT_NAMES 32  // that name_object() can keep, 48 bytes each
#endif

namespace nopscope {

class TaskSender {
public:
    void open(std::uint64_t clock_hz, std::span<Core> cores, AllContexts& contexts) {
        clock_hz_ = clock_hz;
        cores_ = cores;
        contexts_ = &contexts;
    }
    // Makes all facts due now. Any context.
    void request() { __atomic_store_n(&requested_, 1, __ATOMIC_RELAXED); }

    // The lock of the contexts is held.

    void describe(Context& context, const ContextFacts& facts);
    // It ends. Keeps its facts until they have been sent, if there is room.
    void forget(const Context& context);
    // Null: removes the name. False: there is no room for one more.
    bool name(std::uint64_t id, const char* text);

    bool waits(std::uint64_t now) const;
    // Writes the next payload and returns its size; 0: not now. Only the pump calls it, while
    // waits() is true, with interrupts masked.
    std::size_t next(std::uint64_t now, protocol::Byte* payload);

private:
    // A frame takes a part of the pump's budget.
    static constexpr unsigned most_items = 2;
    static_assert(most_items * protocol::max_named_bytes <= protocol::max_payload_bytes);
    static constexpr unsigned most_looked_at = 32;
    static constexpr std::uint64_t again_seconds = 10;
    static constexpr std::uint64_t changes_per_second = 10;

    struct Object {
        std::uint64_t id = 0;
        bool told = false;
        char name[protocol::max_task_name + 1] = {};  // empty: the place is free
    };
    struct Ended {
        protocol::TaskFacts facts;
        char name[protocol::max_task_name + 1] = {};
    };

    void begin(std::uint64_t now);
    bool put_one(protocol::TasksWriter& out);
    bool put(protocol::TasksWriter& out, Context& context, unsigned core);

    // All are zero before open(): an image has no bytes of it.
    AllContexts* contexts_ = nullptr;
    std::span<Core> cores_;
    Ended ended_[8] = {};
    unsigned ended_count_ = 0;
    Object objects_[NOPSCOPE_OBJECT_NAMES] = {};
    std::uint64_t clock_hz_ = 0;
    std::uint64_t begun_ = 0;      // clock, of the last set
    std::uint64_t all_begun_ = 0;  // clock, of the last set of all
    // Where the set is that is being sent: main contexts, then the others, then objects.
    bool sending_ = false;
    bool all_ = false;  // it has what was sent before, too
    unsigned main_ = 0;
    Context* context_ = nullptr;
    unsigned object_ = 0;
    bool any_ = false;
    bool changed_ = false;
    std::uint32_t requested_ = 0;  // a word: not every CPU exchanges a byte
};

static_assert(sizeof Context::name == protocol::max_task_name + 1);
// Copies at most max_task_name bytes, and ends with a zero byte.
inline void copy_name(char* to, const char* from) {
    std::size_t n = 0;
    for (; n < protocol::max_task_name && from != nullptr && from[n] != 0; ++n) to[n] = from[n];
    to[n] = 0;
}
inline protocol::TaskName name_of(const char* text) {
    std::size_t n = 0;
    while (n < protocol::max_task_name && text[n] != 0) ++n;
    return {reinterpret_cast<const protocol::Byte*>(text), n};
}

// `core`: whose main context it is; for others it does not matter.
inline protocol::TaskFacts facts_of(std::span<Core> cores, const Context& context, unsigned core) {
    protocol::TaskFacts facts;
    facts.number = context.number;
    facts.core = context.number == 0 ? core + 1 : context.core;
    facts.flags = context.interrupts ? protocol::runs_interrupts : 0;
    facts.priority = context.priority;
    facts.id = context.id;
    facts.name = name_of(context.name);
    std::uint64_t low = context.stack_low, high = context.stack_high, used = context.lowest_sp;
    if (facts.core != 0) {
        Core& on = cores[facts.core - 1];
        const LockHeld locked(on.context_lock);
        // A core keeps these of the context that it runs; null: of its main one.
        if (on.context == &context || (on.context == nullptr && context.number == 0))
            low = on.stack_low, high = on.stack_high, used = on.lowest_sp;
    }
    if (low == 0 || low >= high || high == ~std::uint64_t{0}) return facts;
    facts.stack_low = low;
    facts.stack_bytes = high - low;
    if (context.number != 0) facts.stack_used = high - used;
    return facts;
}

inline void TaskSender::describe(Context& context, const ContextFacts& facts) {
    copy_name(context.name, facts.name);
    context.priority = facts.priority;
    context.id = facts.id;
    context.interrupts = facts.interrupts;
    context.told = false;
    any_ = changed_ = true;
}

inline void TaskSender::forget(const Context& context) {
    if (context_ == &context) context_ = context.next;
    if (ended_count_ == std::size(ended_)) return;
    Ended& kept = ended_[ended_count_++];
    kept.facts = facts_of(cores_, context, 0);
    kept.facts.flags |= protocol::has_ended;
    copy_name(kept.name, context.name);
    changed_ = true;
}

inline bool TaskSender::name(std::uint64_t id, const char* text) {
    Object* place = nullptr;
    for (Object& object : objects_) {
        const bool is_it = object.name[0] != 0 && object.id == id;
        if (is_it || (place == nullptr && object.name[0] == 0)) place = &object;
        if (is_it) break;
    }
    if (place == nullptr) return text == nullptr;
    place->id = id;
    place->told = false;
    copy_name(place->name, text);
    any_ = changed_ = true;
    return true;
}

inline bool TaskSender::waits(std::uint64_t now) const {
    if (!__atomic_load_n(&any_, __ATOMIC_RELAXED)) return false;
    if (sending_ || __atomic_load_n(&requested_, __ATOMIC_RELAXED) != 0) return true;
    // Soon there is no room for one more.
    if (__atomic_load_n(&ended_count_, __ATOMIC_RELAXED) >= std::size(ended_) / 2) return true;
    return now - all_begun_ >= again_seconds * clock_hz_ ||
           (__atomic_load_n(&changed_, __ATOMIC_RELAXED) &&
            now - begun_ >= clock_hz_ / changes_per_second);
}

inline void TaskSender::begin(std::uint64_t now) {
    const bool due = now - all_begun_ >= again_seconds * clock_hz_;
    all_ = __atomic_exchange_n(&requested_, 0, __ATOMIC_RELAXED) != 0 || due;
    begun_ = now;
    if (all_) all_begun_ = now;
    sending_ = true;
    changed_ = false;
    main_ = object_ = 0;
    context_ = contexts_->created;
}

inline bool TaskSender::put(protocol::TasksWriter& out, Context& context, unsigned core) {
    if (context.told && !all_) return false;
    context.told = true;
    out.put(facts_of(cores_, context, core));
    return true;
}

// Looks at the next. True: it has been written.
inline bool TaskSender::put_one(protocol::TasksWriter& out) {
    if (ended_count_ != 0) {
        Ended& kept = ended_[--ended_count_];
        kept.facts.name = name_of(kept.name);
        out.put(kept.facts);
        return true;
    }
    if (main_ < cores_.size()) {
        const unsigned core = main_++;
        const bool has_joined =
            (__atomic_load_n(&cores_[core].stops, __ATOMIC_RELAXED) & stopped_absent) == 0;
        return has_joined && put(out, contexts_->mains[core], core);
    }
    if (context_ != nullptr) {
        Context& context = *context_;
        context_ = context.next;
        return put(out, context, 0);
    }
    if (object_ < std::size(objects_)) {
        Object& object = objects_[object_++];
        if (object.name[0] == 0 || (object.told && !all_)) return false;
        object.told = true;
        out.put({object.id, name_of(object.name)});
        return true;
    }
    sending_ = false;
    return false;
}

inline std::size_t TaskSender::next(std::uint64_t now, protocol::Byte* payload) {
    // In a panic its holder may not return.
    if (__atomic_exchange_n(&contexts_->lock, 1, __ATOMIC_ACQUIRE) != 0) return 0;
    if (!sending_) begin(now);
    protocol::TasksWriter out(payload);
    unsigned items = 0;
    for (unsigned n = 0; sending_ && n < most_looked_at && items < most_items; ++n)
        items += put_one(out) ? 1 : 0;
    __atomic_store_n(&contexts_->lock, 0, __ATOMIC_RELEASE);
    return out.size();
}

extern constinit TaskSender task_sender;

}  // namespace nopscope
