// SPDX-License-Identifier: Apache-2.0
// Thousands of random requests against a plain model: a map from sites to ordered sets of ops.
#include "tests/unit/tracer/text_fixture.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>

namespace nopscope {
namespace {

using testing::a_callback;
using testing::Text;
using Set = std::vector<Ops*>;

class RandomRequests : public ::testing::TestWithParam<unsigned> {
protected:
    static constexpr std::uint32_t sites = 60;
    struct Member : Ops {
        std::uint64_t calls[4];
    };

    RandomRequests() : random_(GetParam()) {
        text_.add_many(sites);
        text_.initialise();
        for (unsigned i = 0; i < 8; ++i) singles_.push_back({.func = a_callback});
        singles_[6].flags = singles_[7].flags = ops_redirects;
        for (const Address direct :
             {testing::function_entry, testing::graph_entry, testing::far_entry}) {
            singles_.push_back({.direct = direct});
        }
        singles_.push_back({.func = a_callback, .direct = testing::graph_entry});
        for (Ops& one : singles_) all_.push_back(PerSiteOps::of(one));
        for (Member& one : counting_) one.direct = testing::function_entry + 0x40;
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
        for (const PerSiteOps& family : change.remove) {
            if (family.at(index) != added) std::erase(set, family.at(index));
        }
        if (added != nullptr && std::find(set.begin(), set.end(), added) == set.end()) {
            set.push_back(added);
        }
        return set;
    }

    // Makes one request on a range of sites. Sometimes one of the sites is damaged.
    void request() {
        Change change;
        std::vector<PerSiteOps> remove;
        if (below(5) != 0) change.add = any();
        if (change.add.first == nullptr || below(3) == 0) {
            for (unsigned left = 1 + below(4); left-- > 0;) remove.push_back(any());
        }
        change.remove = remove;
        const std::uint32_t first = below(sites);
        const std::uint32_t count = below(3) == 0 ? sites : below(12);
        const std::uint32_t damaged = below(8) == 0 ? below(sites) : sites;
        const Address at = damaged == sites ? 0 : text_.placed[damaged].toggle();
        const std::uint32_t was = damaged == sites ? 0 : text_.machine.read_word(at);
        if (damaged != sites) text_.machine.load(at, 0xd4200000);

        Status expected = Status::ok;
        auto next = model_;
        for (std::uint32_t i = first; i < sites && i - first < count && expected == Status::ok;
             ++i) {
            next[i] = after(next[i], change, i);
            if (i == damaged) {
                expected = Status::unexpected_text;
            } else if (next[i] != model_[i] && conflicts(next[i])) {
                expected = Status::conflict;
            }
        }
        EXPECT_EQ(text_.change(change, first, count), expected);
        if (damaged != sites) text_.machine.load(at, was);
        if (expected == Status::ok) model_ = next;
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
                const auto whose =
                    std::find_if(all_.begin(), all_.end(),
                                 [&](const PerSiteOps& family) { return family.at(i) == ops; });
                ASSERT_NE(whose, all_.end());
                ++counts[whose->first];
            }
        }
        std::uint32_t lists = 0;
        for (const auto& [set, count] : uses) lists += set.size() > 1;
        ASSERT_EQ(text_.patcher.enabled(), enabled);
        ASSERT_EQ(text_.patcher.lists_in_use(), lists);
        for (const PerSiteOps& family : all_) ASSERT_EQ(family.first->sites, counts[family.first]);
        std::map<Set, Ops*> object;
        for (std::uint32_t i = 0; i < sites; ++i) {
            const Set& set = model_[i];
            ASSERT_EQ(text_.ops_of(i), set);
            ASSERT_EQ(text_.word(i), word_of(i, set));
            Ops& found = text_.object(i);
            Ops*& shared = object[set];
            if (shared == nullptr) shared = &found;
            ASSERT_EQ(shared, &found) << "the same set, the same object";
            if (set.size() > 1) check_list(static_cast<OpsList&>(found), set, uses[set]);
        }
    }

    std::map<Status, unsigned> results_;

private:
    // From the state table in transition_planner.hpp.
    std::uint32_t word_of(std::uint32_t index, const Set& set) {
        if (set.empty()) return arch::idle_word;
        if (set.size() > 1 || set[0]->func == a_callback) {
            return text_.bl(index, testing::callback_trampoline);
        }
        const bool far = set[0]->direct == testing::far_entry;
        return text_.bl(index, far ? testing::far_trampoline : set[0]->direct);
    }
    static void check_list(const OpsList& list, const Set& set, std::uint32_t refs) {
        ASSERT_EQ(list.refs, refs);
        ASSERT_EQ(list.func, nopscope_walk_list);
        Address direct = 0;
        for (const Ops* ops : set) direct |= ops->direct;
        ASSERT_EQ(list.direct, direct);
    }

    std::mt19937 random_;
    Text text_;
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
        if (HasFatalFailure()) FAIL() << "request " << i;
    }
    EXPECT_GT(results_[Status::ok], 1000u);
    EXPECT_GT(results_[Status::conflict], 100u);
    EXPECT_GT(results_[Status::unexpected_text], 20u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, ::testing::Range(1u, 5u));

}  // namespace
}  // namespace nopscope
