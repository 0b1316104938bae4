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

#include "tests/verification/oracle/addresses.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_set>

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

struct Events {
    std::uint64_t requests = 0, word_stores = 0, outside_requests = 0, slot_stores = 0,
                  slot_reads = 0;
    std::uint64_t uses = 0, uses_ended = 0;  // of objects read from a slot
    std::uint64_t cleans = 0, needless_cleans = 0;
    std::uint64_t invalidates = 0, needless_invalidates = 0, early_invalidates = 0, elsewhere = 0;
    std::uint64_t barriers = 0, weaker_barriers = 0, isbs = 0, exceptions = 0, erets = 0;
    // Executions of words that are sites or were modified at some time: all, the first by each core
    // after a store, and those during the request.
    std::atomic<std::uint64_t> executions = 0, checked = 0, meanwhile = 0;
};

class Model {
public:
    // `text`: the bytes of the image, at `begin`.
    Model(Address begin, std::vector<std::uint8_t> text);

    Word& add_site(Address word, Address function);
    void set_caches(const Caches& caches) { caches_ = caches; }
    const Caches& caches() const { return caches_; }
    bool holds(Address address) const { return address - begin_ < text_.size(); }
    // Returns the word at `address` if it was modified or belongs to a site; else null.
    Word* find(Address address) const { return words_[(address - begin_) / 4]; }
    Word& watch(Address address);
    std::uint32_t value(Address address) const;
    Site* site_of_slot(Address address) const;

    // ---- what cores do. An address of text is its executable address ----

    void store(unsigned core, Address address, unsigned bytes, std::uint64_t value);
    void clean(unsigned core, Address address, bool beyond);
    void invalidate(unsigned core, Address address);
    void invalidate_all(unsigned core);
    void barrier(unsigned core);
    void synchronise(unsigned core) { cores[core].live = true, cores[core].synchronised = ++now_; }
    void execute(unsigned core, Word& word);
    void begin_request(unsigned core, Address returns_to);
    // The core is at a possible return of a request. `status`: X0, the request's result.
    void reach(unsigned core, Address address, std::uint64_t status);
    void go_off(unsigned core) { cores[core].live = false; }

    // Reports each kind at each address once, and the first thousand only.
    void fault(std::string_view kind, unsigned core, Address address, const std::string& sentence);
    // Returns the first live core that may still execute the word before the last store; -1: none.
    int who_may_lag(const Word& word) const;

    Core cores[max_cores];
    Events events;
    std::vector<Fault> faults;
    std::deque<Site> sites;
    std::map<Address, Line> lines;
    // The rows of docs/ops.md (coherence_rows.cpp), if the image has ops.
    std::function<void(unsigned core, Site&, std::uint64_t old)> on_slot;
    std::function<void(unsigned core, Site&, std::uint32_t word)> on_word;
    std::function<void(unsigned core, Site&, std::uint64_t status)> on_return;

private:
    void store_slot(unsigned core, Site& site, Address address, unsigned bytes,
                    std::uint64_t value);
    void store_word(unsigned core, Address address, std::uint32_t old, std::uint32_t value);
    void advance(unsigned core, Word& word, Step step);
    void needless(const char* kind, unsigned core, Address line, bool needed, const char* what);
    bool others_live(unsigned core) const;
    // The fault of a core that may not see the word yet: its kind, and what is missing.
    std::pair<const char*, std::string> lack(const Word& word) const;

    Address begin_;
    std::vector<std::uint8_t> text_;
    std::vector<Word*> words_;
    std::deque<Word> made_;
    std::map<Address, Site*> slots_;
    std::unordered_set<std::uint64_t> open_;  // requests
    std::uint64_t now_ = 0, last_request_ = 0;
    Caches caches_;
};

}  // namespace coherence
