// SPDX-License-Identifier: Apache-2.0
// Thousands of random requests against a plain model: a map from sites to ordered sets of ops.
#include "tests/unit/tracer/text_fixture.hpp"

namespace nopscope::testing::random_requests_test {

using Set = std::vector<Ops*>;

struct RandomRequests : ::testing::TestWithParam<unsigned> {
    static constexpr std::uint32_t sites = 60;
    struct Member : Ops {
        std::uint64_t calls[4];
    };
    struct Damage {
        Address at;
        std::uint64_t value;  // two words
    };

    RandomRequests() : random_(GetParam()) {
        for (unsigned i = 0; i < 6; ++i) singles_.push_back({.func = a_callback});
        for (const Address direct : {function_entry, graph_entry, far_entry})
            singles_.push_back({.direct = direct});
        singles_.push_back({.func = a_callback, .direct = graph_entry});
        for (const auto flags : {ops_redirects, ops_redirects, ops_unguarded})
            singles_.push_back({.func = a_callback, .flags = flags});
        for (const auto flags : {ops_redirects, ops_unguarded})
            singles_.push_back({.func = a_callback, .direct = graph_entry, .flags = flags});
        for (Ops& one : singles_) all_.push_back(PerSiteOps::of(one));
        for (Member& one : counting_) {
            one.direct = function_entry + 0x40;
            one.data = one.calls;
        }
        for (Member& one : called_) one.func = a_callback;
        all_.push_back(PerSiteOps::each(counting_.data(), sites));
        all_.push_back(PerSiteOps::each(called_.data(), sites));
    }

    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
    PerSiteOps any() { return all_[below(static_cast<unsigned>(all_.size()))]; }

    static bool conflicts(const Set& set) {
        unsigned special = 0;
        for (const Ops* ops : set)
            special += (ops->direct != 0) + ((ops->flags & ops_redirects) != 0);
        return special > 1;
    }
    static Set after(Set set, const Change& change, std::uint32_t index) {
        Ops* const added = change.add.at(index);
        for (const PerSiteOps& family : change.remove)
            if (family.at(index) != added) std::erase(set, family.at(index));
        if (added != nullptr && std::find(set.begin(), set.end(), added) == set.end())
            set.push_back(added);
        return set;
    }

    // A request on a few ranges of sites, which may overlap. Sometimes a site is damaged.
    void request() {
        Change change;
        std::vector<PerSiteOps> remove;
        if (below(5) != 0) change.add = any();
        if (change.add.first == nullptr || below(3) == 0)
            for (unsigned left = 1 + below(4); left-- > 0;) remove.push_back(any());
        change.remove = remove;
        Text::Runs runs;
        for (unsigned left = 1 + below(10) / 8; left-- > 0;) {
            const std::uint32_t first = below(sites);
            const std::uint32_t count = below(3) == 0 ? sites : below(12);
            runs.push_back({first, std::min(first + count, sites)});
        }
        const std::uint32_t damaged = below(8) == 0 ? below(sites) : sites;
        const Damage damage = damaged == sites ? Damage{} : damage_of(damaged);
        const std::uint64_t was = damaged == sites ? 0 : load(damage);

        Status expected = Status::ok;
        auto next = model_;
        bool waits = false, empties = false;
        for (const auto& [first, last] : runs) {
            for (std::uint32_t i = first; i < last && expected == Status::ok; ++i) {
                next[i] = after(next[i], change, i);
                const Set& before = model_[i];
                const bool changes = next[i] != before;
                waits |= changes && (before.size() > 1 || next[i].size() <= before.size());
                empties |= changes && next[i].empty();
                if (i == damaged)
                    expected = Status::unexpected_text;
                else if (changes && conflicts(next[i]))
                    expected = Status::conflict;
            }
        }
        if (expected != Status::ok) next = model_;
        make(change, runs, expected, next);
        // Before an ops or a list may be used again, and after `none` was written.
        EXPECT_EQ(text_.synchronized, expected == Status::ok ? waits + empties : 0);
        if (expected == Status::unexpected_text) {
            EXPECT_EQ(text_.patcher.last_error().address, damage.at);
            EXPECT_EQ(text_.patcher.last_error().found, static_cast<std::uint32_t>(damage.value));
        }
        if (damaged != sites) load({damage.at, was});
        ++results_[expected];
    }

    void check() {
        std::map<Set, std::uint32_t> uses;
        std::map<Ops*, std::uint32_t> counts;
        std::uint32_t enabled = 0;
        for (std::uint32_t i = 0; i < sites; ++i) {
            const Set& set = model_[i];
            ++uses[set];
            enabled += !set.empty();
            for (Ops* ops : set) {
                const auto has = [&](const PerSiteOps& family) { return family.at(i) == ops; };
                const auto whose = std::find_if(all_.begin(), all_.end(), has);
                ASSERT_NE(whose, all_.end());
                ++counts[whose->first];
            }
        }
        std::uint32_t lists = 0;
        for (const auto& [set, count] : uses) lists += set.size() > 1;
        ASSERT_EQ(text_.patcher.enabled(), enabled);
        ASSERT_EQ(text_.patcher.lists_in_use(), lists);
        ASSERT_TRUE(text_.machine.torn_slots.empty());
        for (const PerSiteOps& family : all_) ASSERT_EQ(family.first->sites, counts[family.first]);
        std::map<Set, Ops*> object;
        for (std::uint32_t i = 0; i < sites; ++i) {
            SCOPED_TRACE(i);
            const Set& set = model_[i];
            ASSERT_EQ(text_.ops_of(i), set);
            const PatchSite& site = text_.placed[i];
            for (const unsigned core : {0u, 1u}) {
                const auto fetched = [&](Address at) { return text_.machine.fetch(core, at); };
                ASSERT_EQ(fetched(site.toggle()), word_of(i, set));
                ASSERT_EQ(fetched(site.setup()), site.setup_word());
            }
            Ops& found = text_.object(i);
            Ops*& shared = object[set];
            if (shared == nullptr) shared = &found;
            ASSERT_EQ(shared, &found) << "the same set, the same object";
            Ops* const single = set.empty() ? &text_.none : set[0];
            ASSERT_TRUE(set.size() > 1 || &found == single);
            if (set.size() > 1) check_list(static_cast<OpsList&>(found), set, uses[set]);
        }
    }

    std::map<Status, unsigned> results_;

private:
    // Makes the request. It writes only what differs between model_ and `next`, which it assigns.
    void make(const Change& change, const Text::Runs& runs, Status expected,
              std::map<std::uint32_t, Set>& next) {
        const unsigned writes = text_.writes(), word_writes = text_.machine.word_writes;
        bool same_words = true;
        for (auto& [index, set] : next)
            same_words &= word_of(index, set) == word_of(index, model_[index]);
        text_.synchronized = 0;
        text_.machine.cleans.clear();
        EXPECT_EQ(text_.change(change, runs), expected);
        EXPECT_EQ(text_.writes() == writes, next == model_);
        EXPECT_EQ(text_.machine.word_writes == word_writes, same_words);
        EXPECT_EQ(text_.machine.cleans.empty(), same_words || !maintains_lines);
        model_ = next;
    }
    // A word or slot that no request leaves at this site.
    Damage damage_of(std::uint32_t index) {
        const PatchSite site = text_.placed[index];
        const std::uint32_t call = text_.call(index, callback_trampoline);
        const std::uint32_t other_word = model_[index].empty() ? call : arch::idle_word;
        const auto word = [&](Address at, std::uint32_t value) {
            return Damage{at, value | std::uint64_t{text_.machine.read_word(at + 4)} << 32};
        };
        switch (below(7)) {
        case 0: return word(site.toggle(), 0xd4200000);  // brk: a debugger's
        case 1: return word(site.toggle(), other_word);
        case 2: return word(site.setup(), arch::idle_word);
        case 3: return {site.slot(), 0x12345678};
        case 4: return {site.slot(), 0};
        case 5: return {site.slot(), text_.machine.read_slot(site.slot()) + 16};  // no beginning
        default: return {site.slot(), slot_of(counting_[(index + 1) % sites])};   // another site's
        }
    }
    std::uint64_t load(const Damage& damage) {
        const std::uint64_t was = text_.machine.read_slot(damage.at);
        text_.machine.load(damage.at, static_cast<std::uint32_t>(damage.value));
        text_.machine.load(damage.at + 4, static_cast<std::uint32_t>(damage.value >> 32));
        return was;
    }
    // From the state table in transition_planner.hpp.
    std::uint32_t word_of(std::uint32_t index, const Set& set) {
        if (set.empty()) return arch::idle_word;
        const Ops& first = *set[0];
        if (set.size() == 1 && first.func == no_callback)
            return text_.call(index, first.direct == far_entry ? far_trampoline : first.direct);
        const bool unguarded = set.size() == 1 && first.flags == ops_unguarded && first.direct == 0;
        return text_.call(index, unguarded ? unguarded_trampoline : callback_trampoline);
    }
    static void check_list(const OpsList& list, const Set& set, std::uint32_t refs) {
        ASSERT_EQ(list.refs, refs);
        ASSERT_EQ(list.func, nopscope_walk_list);
        Ops direct;
        for (const Ops* ops : set) direct = ops->direct != 0 ? *ops : direct;
        ASSERT_EQ(list.direct, direct.direct);
        ASSERT_EQ(list.data, direct.data) << "what its direct entry works on";
    }

    std::mt19937 random_;
    IdleSites text_{sites};
    std::deque<Ops> singles_;
    std::vector<Member> counting_ = std::vector<Member>(sites),
                        called_ = std::vector<Member>(sites);
    std::vector<PerSiteOps> all_;
    std::map<std::uint32_t, Set> model_;
};

TEST_P(RandomRequests, MatchTheModel) {
    for (unsigned i = 0; i < 3000; ++i) {
        request();
        check();
        if (HasFailure()) FAIL() << "request " << i;
    }
    EXPECT_GT(results_[Status::ok], 1000u);
    EXPECT_GT(results_[Status::conflict], 100u);
    EXPECT_GT(results_[Status::unexpected_text], 20u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, ::testing::Range(1u, 5u));

}  // namespace nopscope::testing::random_requests_test
