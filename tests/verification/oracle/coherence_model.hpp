// SPDX-License-Identifier: Apache-2.0
// The architecture's promises about modified text: which words each core must see.
//
// Arm ARM DDI 0487, B2.2.5 and D7.5. All cores surely fetch a stored word only after
//
//     DC CVAU of its line, by the core that stored     not where CTR_EL0.IDC is set
//     DSB, there
//     IC IVAU of its line, at the executable address    not where CTR_EL0.DIC is set
//     DSB, by the core that invalidated                 likewise
//     a context synchronisation event of the core itself: ISB, exception entry, ERET
//
// in this order. Each word counts its steps, and a step that comes too early does not count. A
// modification belongs to the request (an outermost or inner call of one of the tracer's public
// functions) in which its core makes it. Until that request returns, other cores may execute the
// old word or the new one. Single-threaded: the caller holds a lock.
#pragma once

#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/addresses.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace coherence {

using Address = std::uint64_t;

constexpr unsigned max_cores = 8;

inline std::string core_name(unsigned core) { return "core " + std::to_string(core); }

// CTR_EL0.
struct Caches {
    bool clean = true, invalidate = true;  // whether the CPU needs these
    Address dcache_line_bytes = 64, icache_line_bytes = 64;

    static Caches of(std::uint64_t ctr) {
        return {(ctr >> 28 & 1) == 0, (ctr >> 29 & 1) == 0, Address{4} << (ctr >> 16 & 15),
                Address{4} << (ctr & 15)};
    }
};

struct Fault {
    std::string_view kind;  // docs/proof.md lists the kinds
    unsigned core;
    Address address;
    std::string sentence;
    std::uint64_t times;
};

// The progress of a word's last store.
enum class Step : std::uint8_t { visible, stored, cleaned, unified, invalidated };

struct Site;

struct Word {
    Address address;
    Site* site = nullptr;  // the site whose toggling word it is
    // The cores that surely see the last store, one bit each.
    std::atomic<std::uint32_t> settled{~0u};
    Step step = Step::visible;
    bool hurried = false;             // its line was invalidated before the clean was complete
    unsigned core = 0;                // it made the last step
    std::uint64_t visible_since = 0;  // by Model::now_
    std::uint64_t request = 0;        // it made the store; 0: none
};

struct Site {
    Word* word;
    Address function;
    std::uint64_t slot = 0;  // its current object
    std::uint64_t slot_since = 0;
    unsigned slot_core = 0;
    Address slot_address() const { return function - 8; }
};

struct Core {
    bool live = false;                            // it has executed something, and has not gone off
    std::uint64_t synchronised = 0, barrier = 0;  // the last ones
    std::vector<Word*> awaiting;                  // words that wait for a DSB of this core
    struct Request {
        std::uint64_t number;
        Address returns_to;
        std::vector<Word*> words;
        std::vector<Site*> sites;
    };
    std::vector<Request> requests;  // open requests, innermost last
};

struct Line {
    bool unclean = false, stale = false;  // written since the last clean, invalidate
    std::uint64_t cleans = 0, invalidates = 0;
};

class Model {
public:
    // `text`: the bytes of the image, at `begin`.
    Model(Address begin, std::vector<std::uint8_t> text)
        : begin_(begin), text_(std::move(text)), words_(text_.size() / 4) {}
    virtual ~Model() = default;

    void add_site(Address address, Address function) {
        Site& site = sites_.emplace_back(Site{&watch(address), function});
        site.slot = slot_of(site);
        site.word->site = &site;
        slots_.emplace(site.slot_address(), &site);
    }
    bool holds(Address address) const { return address - begin_ < text_.size(); }
    // Returns the word at `address` if it was modified or belongs to a site; else null.
    Word* find(Address address) const { return words_[(address - begin_) / 4]; }
    Word& watch(Address address) {
        Word*& word = words_[(address - begin_) / 4];
        if (word == nullptr) {
            word = &made_.emplace_back();
            word->address = address & ~Address{3};
        }
        return *word;
    }
    std::uint32_t value(Address address) const {
        std::uint32_t value;
        std::memcpy(&value, &text_[(address - begin_) & ~Address{3}], sizeof value);
        return value;
    }
    Site* site_of_slot(Address address) const {
        const auto after = slots_.upper_bound(address);
        if (after == slots_.begin()) return nullptr;
        const auto& [slot, site] = *std::prev(after);
        return address - slot < 8 ? site : nullptr;
    }

    // ---- what cores do. An address of text is its executable address ----

    void store(unsigned core, Address address, unsigned bytes, std::uint64_t value) {
        cores[core].live = true;
        Site* const first = site_of_slot(address);
        Site* const last = site_of_slot(address + bytes - 1);
        if (first != nullptr || last != nullptr) {
            return store_slot(core, first != nullptr ? *first : *last, address, bytes, value);
        }
        if (bytes != 4 || address % 4 != 0) {
            return fault("torn-word", core, address,
                         core_name(core) + " stores " + std::to_string(bytes) +
                             " bytes to text at " + hex(address) +
                             ": only a whole aligned word is fetched whole");
        }
        const std::uint32_t old = this->value(address);
        std::memcpy(&text_[address - begin_], &value, bytes);
        store_word(core, address, old, static_cast<std::uint32_t>(value));
    }
    // `beyond`: boot does this to all memory. It also cleans to the point of unification.
    void clean(unsigned core, Address address, bool beyond) {
        const Address begin = address & ~(caches.dcache_line_bytes - 1);
        for_each_word(begin, caches.dcache_line_bytes, [&](Word& word) {
            if (word.step == Step::stored && word.core == core) advance(core, word, Step::cleaned);
        });
        Line& line = lines[begin];
        const bool is_needed = std::exchange(line.unclean, false) && caches.clean;
        if (beyond) return;
        ++events["cleans"];
        ++line.cleans;
        if (!is_needed) needless("needless-clean", core, begin, caches.clean, "cleans");
    }
    void invalidate(unsigned core, Address address) {
        const Address begin = address & ~(caches.icache_line_bytes - 1);
        for_each_word(begin, caches.icache_line_bytes, [&](Word& word) {
            if (word.step == Step::unified) {
                advance(core, word, Step::invalidated);
            } else if (word.step == Step::stored || word.step == Step::cleaned) {
                word.hurried = true;
            }
        });
        Line& line = lines[begin];
        const bool is_needed = std::exchange(line.stale, false) && caches.invalidate;
        ++events["invalidates"];
        ++line.invalidates;
        if (!is_needed)
            needless("needless-invalidate", core, begin, caches.invalidate, "invalidates");
    }
    void invalidate_all(unsigned core) {
        for (Word& word : made_) {
            if (word.step == Step::unified) advance(core, word, Step::invalidated);
        }
    }
    void barrier(unsigned core) {
        ++events["barriers"];
        cores[core].live = true;
        cores[core].barrier = ++now_;
        for (Word* word : std::exchange(cores[core].awaiting, {})) {
            if (word->core != core) continue;
            if (word->step == Step::cleaned)
                advance(core, *word, Step::unified);
            else if (word->step == Step::invalidated)
                advance(core, *word, Step::visible);
        }
    }
    void synchronise(unsigned core, const char* by) {
        ++events[by];
        cores[core].live = true;
        cores[core].synchronised = ++now_;
    }
    void execute(unsigned core, Word& word) {
        cores[core].live = true;
        // Outside of requests no core tells others of the change: checks only the core that made
        // it.
        const bool over = word.request == 0 ? word.core == core : open_.count(word.request) == 0;
        ++events[over ? "executions_checked" : "executions_meanwhile"];
        if (!over) return;
        if (word.step == Step::visible && cores[core].synchronised > word.visible_since) {
            word.settled |= 1u << core;
            return;
        }
        const auto [kind, missing] = lack(word);
        fault(kind, core, word.address,
              core_name(core) + " executes the word at " + hex(word.address) +
                  ", stored by a request that has returned, without " + missing +
                  ": it may execute what was there before");
    }
    void begin_request(unsigned core, Address returns_to) {
        ++events["requests"];
        open_.insert(++last_request_);
        cores[core].requests.push_back({last_request_, returns_to, {}, {}});
    }
    // The core is at a possible return of a request. `status`: X0, the request's result.
    void reach(unsigned core, Address address, std::uint64_t status) {
        std::vector<Core::Request>& requests = cores[core].requests;
        while (!requests.empty() && requests.back().returns_to == address) {
            const Core::Request done = std::move(requests.back());
            requests.pop_back();
            open_.erase(done.number);
            for (Word* word : done.words) {
                if (word->request != done.number || word->step == Step::visible) continue;
                const auto [kind, missing] = lack(*word);
                fault(kind, core, word->address,
                      "a request returns on " + core_name(core) + ", and the word at " +
                          hex(word->address) + " that it stored lacks " + missing);
            }
            for (Site* site : done.sites) returned(core, *site, status);
        }
    }
    void go_off(unsigned core) { cores[core].live = false; }

    // Reports each kind at each address once, and the first thousand only.
    void fault(std::string_view kind, unsigned core, Address address, const std::string& sentence) {
        for (Fault& known : faults) {
            if (known.kind == kind && known.address == address) return void(++known.times);
        }
        if (faults.size() < 1000) faults.push_back({kind, core, address, sentence, 1});
    }

    Caches caches;
    Core cores[max_cores];
    std::map<std::string_view, std::uint64_t> events;  // by name: docs/proof.md
    std::vector<Fault> faults;
    std::map<Address, Line> lines;

protected:
    // Returns the first live core that may still execute the word before the last store; -1: none.
    int who_may_lag(const Word& word) const {
        for (unsigned core = 0; core < max_cores; ++core) {
            const Core& one = cores[core];
            if (!one.live || (word.settled.load() >> core & 1) != 0) continue;
            if (word.step != Step::visible || one.synchronised <= word.visible_since)
                return static_cast<int>(core);
        }
        return -1;
    }

private:
    // What the rows of docs/ops.md check (coherence_rows.hpp).
    virtual void slot_stored(unsigned core, Site&, std::uint64_t old) = 0;
    virtual void word_stored(unsigned core, Site&, std::uint32_t word) = 0;
    virtual void returned(unsigned core, Site&, std::uint64_t status) = 0;

    std::uint64_t slot_of(const Site& site) const {
        std::uint64_t slot;
        std::memcpy(&slot, &text_[site.slot_address() - begin_], sizeof slot);
        return slot;
    }
    template <typename Visit>
    void for_each_word(Address begin, Address bytes, Visit visit) {
        for (Address at = begin; at < begin + bytes && holds(at); at += 4) {
            if (Word* const word = find(at)) visit(*word);
        }
    }
    void store_slot(unsigned core, Site& site, Address address, unsigned bytes,
                    std::uint64_t value) {
        ++events["slot_stores"];
        const bool is_whole = bytes == 8 && address == site.slot_address();
        if (!is_whole) {
            fault("torn-slot", core, site.slot_address(),
                  core_name(core) + " stores " + std::to_string(bytes) + " bytes at " +
                      hex(address) + ", of the slot at " + hex(site.slot_address()) +
                      ": another core could read a part of it");
        }
        std::memcpy(&text_[address - begin_], &value, std::min<std::size_t>(bytes, sizeof value));
        const std::uint64_t old = std::exchange(site.slot, slot_of(site));
        site.slot_core = core;
        site.slot_since = ++now_;
        if (!is_whole) return;
        if (!cores[core].requests.empty()) cores[core].requests.back().sites.push_back(&site);
        slot_stored(core, site, old);
    }
    void store_word(unsigned core, Address address, std::uint32_t old, std::uint32_t value) {
        ++events["word_stores"];
        Word& word = watch(address);
        if (word.site == nullptr && cores[core].requests.empty())
            ++events["stores_outside_requests"];
        lines[address & ~(caches.dcache_line_bytes - 1)].unclean = true;
        lines[address & ~(caches.icache_line_bytes - 1)].stale = true;
        if (old == value) return;
        const auto is_legal =
            word.site == nullptr ? a64::may_change_under_execution : a64::is_nop_or_bl;
        if (!(is_legal(old) && is_legal(value)) && others_live(core)) {
            fault("word-class", core, address,
                  core_name(core) + " changes the word at " + hex(address) + " from " + hex(old) +
                      " to " + hex(value) + " while other cores run: they may execute anything");
        }
        word.settled = 0;
        word.hurried = false;
        word.request = 0;
        if (!cores[core].requests.empty()) {
            Core::Request& request = cores[core].requests.back();
            word.request = request.number;
            request.words.push_back(&word);
            if (word.site != nullptr) request.sites.push_back(word.site);
        } else if (word.site != nullptr) {
            fault("stray", core, address,
                  core_name(core) + " changes the site at " + hex(address) +
                      " outside of every request this oracle knows");
        }
        if (word.site != nullptr) word_stored(core, *word.site, value);
        advance(core, word, caches.clean ? Step::stored : Step::cleaned);
    }
    void advance(unsigned core, Word& word, Step step) {
        if (step == Step::unified && !caches.invalidate) step = Step::visible;
        word.step = step;
        word.core = core;
        if (step == Step::visible) word.visible_since = ++now_;
        if (step == Step::cleaned || step == Step::invalidated)
            cores[core].awaiting.push_back(&word);
    }
    void needless(const char* kind, unsigned core, Address line, bool needed, const char* what) {
        fault(kind, core, line,
              core_name(core) + " " + what + " the line at " + hex(line) +
                  (needed ? ", in which nothing was stored since the last time"
                          : ": this CPU needs none (CTR_EL0)"));
    }
    bool others_live(unsigned core) const {
        return std::ranges::any_of(
            cores, [&](const Core& one) { return &one != &cores[core] && one.live; });
    }
    // The fault of a core that may not see the word yet: its kind, and what is missing.
    std::pair<const char*, std::string> lack(const Word& word) const {
        const std::string by = " by " + core_name(word.core);
        switch (word.step) {
        case Step::stored: return {"no-clean", "DC CVAU of its line" + by};
        case Step::cleaned:
            if (caches.clean) return {"no-dsb-after-clean", "DSB after DC CVAU" + by};
            return {"no-dsb-after-store", "DSB after the store" + by};
        case Step::unified:
            return {word.hurried ? "no-dsb-after-clean" : "no-invalidate",
                    "IC IVAU of its line after a DSB after DC CVAU"};
        case Step::invalidated: return {"no-dsb-after-invalidate", "DSB after IC IVAU" + by};
        case Step::visible: break;
        }
        return {"no-synchronisation", "a context synchronisation event of its own"};
    }

    Address begin_;
    std::vector<std::uint8_t> text_;
    std::vector<Word*> words_;
    std::deque<Word> made_;  // a std::deque moves no element
    std::deque<Site> sites_;
    std::map<Address, Site*> slots_;
    std::unordered_set<std::uint64_t> open_;  // requests
    std::uint64_t now_ = 0, last_request_ = 0;
};

}  // namespace coherence
