// SPDX-License-Identifier: Apache-2.0
#include "tests/verification/oracle/coherence_model.hpp"

#include "tests/verification/oracle/a64.hpp"

#include <cstring>

namespace coherence {

Model::Model(Address begin, std::vector<std::uint8_t> text)
    : begin_(begin), text_(std::move(text)), words_(text_.size() / 4) {}

Word& Model::watch(Address address) {
    Word*& word = words_[(address - begin_) / 4];
    if (word == nullptr) {
        word = &made_.emplace_back();
        word->address = address & ~Address{3};
    }
    return *word;
}

Word& Model::add_site(Address address, Address function) {
    Word& word = watch(address);
    Site& site = sites.emplace_back();
    site.word = &word;
    site.function = function;
    std::memcpy(&site.slot, &text_[site.slot_address() - begin_], sizeof site.slot);
    word.site = &site;
    slots_.emplace(site.slot_address(), &site);
    return word;
}

std::uint32_t Model::value(Address address) const {
    std::uint32_t value;
    std::memcpy(&value, &text_[(address - begin_) & ~Address{3}], sizeof value);
    return value;
}

Site* Model::site_of_slot(Address address) const {
    const auto after = slots_.upper_bound(address);
    if (after == slots_.begin()) return nullptr;
    const auto& [slot, site] = *std::prev(after);
    return address - slot < 8 ? site : nullptr;
}

void Model::fault(std::string_view kind, unsigned core, Address address,
                  const std::string& sentence) {
    for (Fault& known : faults) {
        if (known.kind != kind || known.address != address) continue;
        ++known.times;
        return;
    }
    if (faults.size() < 1000) faults.push_back({kind, core, address, sentence, 1});
}

bool Model::others_live(unsigned core) const {
    for (unsigned other = 0; other < max_cores; ++other) {
        if (other != core && cores[other].live) return true;
    }
    return false;
}

// ---- stores ----

void Model::store(unsigned core, Address address, unsigned bytes, std::uint64_t value) {
    cores[core].live = true;
    Site* const first = site_of_slot(address);
    Site* const last = site_of_slot(address + bytes - 1);
    if (first != nullptr || last != nullptr) {
        store_slot(core, first != nullptr ? *first : *last, address, bytes, value);
        return;
    }
    if (bytes != 4 || address % 4 != 0) {
        fault("torn-word", core, address,
              core_name(core) + " stores " + std::to_string(bytes) + " bytes to text at " +
                  hex(address) + ": only a whole aligned word is fetched whole");
        return;
    }
    const std::uint32_t old = this->value(address);
    std::memcpy(&text_[address - begin_], &value, bytes);
    store_word(core, address, old, static_cast<std::uint32_t>(value));
}

void Model::store_slot(unsigned core, Site& site, Address address, unsigned bytes,
                       std::uint64_t value) {
    ++events.slot_stores;
    if (bytes != 8 || address != site.slot_address()) {
        fault("torn-slot", core, site.slot_address(),
              core_name(core) + " stores " + std::to_string(bytes) + " bytes at " + hex(address) +
                  ", of the slot at " + hex(site.slot_address()) +
                  ": another core could read a part of it");
    }
    const std::uint64_t old = site.slot;
    std::memcpy(&text_[address - begin_], &value, bytes < sizeof value ? bytes : sizeof value);
    std::memcpy(&site.slot, &text_[site.slot_address() - begin_], sizeof site.slot);
    site.slot_core = core;
    site.slot_since = ++now_;
    if (bytes != 8 || address != site.slot_address()) return;
    if (!cores[core].requests.empty()) cores[core].requests.back().sites.push_back(&site);
    if (on_slot) on_slot(core, site, old);
}

void Model::store_word(unsigned core, Address address, std::uint32_t old, std::uint32_t value) {
    ++events.word_stores;
    Word& word = watch(address);
    if (word.site == nullptr && cores[core].requests.empty()) ++events.outside_requests;
    lines[address & ~(caches_.dcache_line_bytes - 1)].unclean = true;
    lines[address & ~(caches_.icache_line_bytes - 1)].stale = true;
    if (old == value) return;
    const bool legal =
        word.site != nullptr
            ? (old == a64::nop || a64::is_bl(old)) && (value == a64::nop || a64::is_bl(value))
            : a64::may_change_under_execution(old) && a64::may_change_under_execution(value);
    if (!legal && others_live(core)) {
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
    if (word.site != nullptr && on_word) on_word(core, *word.site, value);
    advance(core, word, caches_.clean ? Step::stored : Step::cleaned);
}

// ---- maintenance ----

void Model::advance(unsigned core, Word& word, Step step) {
    if (step == Step::unified && !caches_.invalidate) step = Step::visible;
    word.step = step;
    word.core = core;
    if (step == Step::visible) word.visible_since = ++now_;
    if (step == Step::cleaned || step == Step::invalidated) cores[core].awaiting.push_back(&word);
}

void Model::needless(const char* kind, unsigned core, Address line, bool needed, const char* what) {
    fault(kind, core, line,
          core_name(core) + " " + what + " the line at " + hex(line) +
              (needed ? ", in which nothing was stored since the last time"
                      : ": this CPU needs none (CTR_EL0)"));
}

// `beyond`: boot does this to all memory. It also cleans to the point of unification.
void Model::clean(unsigned core, Address address, bool beyond) {
    const Address line = address & ~(caches_.dcache_line_bytes - 1);
    for (Address at = line; at < line + caches_.dcache_line_bytes && holds(at); at += 4) {
        Word* const word = find(at);
        if (word == nullptr || word->step != Step::stored || word->core != core) continue;
        advance(core, *word, Step::cleaned);
    }
    Line& state = lines[line];
    const bool is_needed = state.unclean && caches_.clean;
    state.unclean = false;
    if (beyond) return;
    ++events.cleans;
    ++state.cleans;
    if (is_needed) return;
    ++events.needless_cleans;
    needless("needless-clean", core, line, caches_.clean, "cleans");
}

void Model::invalidate(unsigned core, Address address) {
    const Address line = address & ~(caches_.icache_line_bytes - 1);
    for (Address at = line; at < line + caches_.icache_line_bytes && holds(at); at += 4) {
        Word* const word = find(at);
        if (word == nullptr) continue;
        if (word->step == Step::unified) {
            advance(core, *word, Step::invalidated);
        } else if (word->step == Step::stored || word->step == Step::cleaned) {
            word->hurried = true;
            ++events.early_invalidates;
        }
    }
    Line& state = lines[line];
    const bool is_needed = state.stale && caches_.invalidate;
    state.stale = false;
    ++events.invalidates;
    ++state.invalidates;
    if (is_needed) return;
    ++events.needless_invalidates;
    needless("needless-invalidate", core, line, caches_.invalidate, "invalidates");
}

void Model::invalidate_all(unsigned core) {
    for (Word& word : made_) {
        if (word.step == Step::unified) advance(core, word, Step::invalidated);
    }
}

void Model::barrier(unsigned core) {
    ++events.barriers;
    cores[core].live = true;
    cores[core].barrier = ++now_;
    std::vector<Word*> done;
    done.swap(cores[core].awaiting);
    for (Word* word : done) {
        if (word->core != core) continue;
        if (word->step == Step::cleaned)
            advance(core, *word, Step::unified);
        else if (word->step == Step::invalidated)
            advance(core, *word, Step::visible);
    }
}

// ---- execution ----

std::pair<const char*, std::string> Model::lack(const Word& word) const {
    const std::string by = " by " + core_name(word.core);
    switch (word.step) {
    case Step::stored: return {"no-clean", "DC CVAU of its line" + by};
    case Step::cleaned:
        if (caches_.clean) return {"no-dsb-after-clean", "DSB after DC CVAU" + by};
        return {"no-dsb-after-store", "DSB after the store" + by};
    case Step::unified:
        return {word.hurried ? "no-dsb-after-clean" : "no-invalidate",
                "IC IVAU of its line after a DSB after DC CVAU"};
    case Step::invalidated: return {"no-dsb-after-invalidate", "DSB after IC IVAU" + by};
    case Step::visible: break;
    }
    return {"no-synchronisation", "a context synchronisation event of its own"};
}

int Model::who_may_lag(const Word& word) const {
    for (unsigned core = 0; core < max_cores; ++core) {
        const Core& one = cores[core];
        if (!one.live || (word.settled.load() >> core & 1) != 0) continue;
        if (word.step != Step::visible || one.synchronised <= word.visible_since)
            return static_cast<int>(core);
    }
    return -1;
}

void Model::execute(unsigned core, Word& word) {
    cores[core].live = true;
    // Outside of requests no core tells others of the change: checks only the core that made it.
    const bool over = word.request == 0 ? word.core == core : open_.count(word.request) == 0;
    if (!over) {
        ++events.meanwhile;
        return;
    }
    ++events.checked;
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

// ---- requests ----

void Model::begin_request(unsigned core, Address returns_to) {
    ++events.requests;
    open_.insert(++last_request_);
    cores[core].requests.push_back({last_request_, returns_to, {}, {}});
}

void Model::reach(unsigned core, Address address, std::uint64_t status) {
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
        if (!on_return) continue;
        for (Site* site : done.sites) on_return(core, *site, status);
    }
}

}  // namespace coherence
