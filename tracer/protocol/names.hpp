// SPDX-License-Identifier: Apache-2.0
// The name table: the linkage names of each patch site, in the image's section .nopscope.names.
// `nopscope names` writes it if the build uses nopscope_name_table(TARGET). The target reads it.
//
//     u32 magic          "NSN" and the version, 2
//     u32 site_count
//     u32 site_table_crc as in hello; the target refuses a table of another image
//     u32 name_bytes     size of `names`
//     u32 block[n]       where each block of 16 names begins, n = ceil(site_count / 16)
//     names              by site index: u8 shared, u8 rest, rest bytes;
//                        then for each of the site's aliases: u8 255, and the same
//
// A name is the first `shared` bytes of the name before it (0 at the start of a block), and `rest`
// more; `shared` is below 255. Names are cut to 255 bytes. A site without a symbol has an empty
// name. An alias is another symbol at the site, or what a compiler's clone is called in the source.
#pragma once

#include "tracer/protocol/bytes.hpp"

namespace nopscope::protocol {

inline constexpr std::uint32_t names_magic = 0x024e534e;
inline constexpr std::uint32_t names_per_block = 16;
inline constexpr std::size_t names_header_bytes = 16;
inline constexpr std::size_t max_name_bytes = 255;
inline constexpr Byte alias_mark = 255;

class NameTable {
public:
    constexpr NameTable() = default;
    // The table is empty unless the bytes are a whole table for these sites. It keeps the pointer.
    NameTable(const Byte* bytes, std::size_t count, std::uint32_t site_count,
              std::uint32_t site_table_crc) {
        Reader in(bytes, count);
        const bool known = in.fixed<std::uint32_t>() == names_magic;
        const auto sites = in.fixed<std::uint32_t>();
        const auto crc = in.fixed<std::uint32_t>();
        const auto name_bytes = in.fixed<std::uint32_t>();
        const std::size_t blocks = (std::size_t{sites} + names_per_block - 1) / names_per_block;
        const Byte* const block = in.bytes(blocks * sizeof(std::uint32_t));
        const Byte* const names = in.bytes(name_bytes);
        if (!known || !in.ok() || sites != site_count || crc != site_table_crc) return;
        blocks_ = block;
        names_ = names;
        name_bytes_ = name_bytes;
        size_ = sites;
    }
    // The number of names: that of all sites, or 0.
    constexpr std::uint32_t size() const { return size_; }

private:
    friend class NameCursor;
    const Byte* blocks_ = nullptr;
    const Byte* names_ = nullptr;
    std::uint32_t name_bytes_ = 0;
    std::uint32_t size_ = 0;
};

// Reads one name at a time. Ascending indexes cost one step each, any other at most 16. If the
// table's bytes are malformed, the name is empty.
class NameCursor {
public:
    explicit NameCursor(const NameTable& table) : table_(table) {}

    // Makes data() the name of site `index`; false: it is unknown.
    bool seek(std::uint32_t index) {
        if (index >= table_.size_) return false;
        const std::uint32_t block = index / names_per_block;
        const bool is_ahead = next_ != 0 && index >= next_ - (is_alias_ ? 0 : 1) &&
                              block == (next_ - 1) / names_per_block;
        if (!is_ahead) start_block(block);
        while (next_ <= index) step();
        return size_ != 0;
    }
    // After seek(): makes data() the next alias of that site; false: it has no more.
    bool seek_alias() {
        if (at_ >= table_.name_bytes_ || table_.names_[at_] != alias_mark) return false;
        ++at_;
        is_alias_ = true;
        read();
        return size_ != 0;
    }
    const char* data() const { return name_; }  // size() bytes, no terminator
    std::size_t size() const { return size_; }

private:
    void start_block(std::uint32_t block) {
        Reader in(table_.blocks_ + std::size_t{block} * sizeof(std::uint32_t),
                  sizeof(std::uint32_t));
        at_ = in.fixed<std::uint32_t>();
        next_ = block * names_per_block;
        size_ = 0;
        is_alias_ = false;
    }
    void step() {
        while (seek_alias()) {
        }
        ++next_;
        is_alias_ = false;
        read();
    }
    void read() {
        const std::uint32_t left = at_ < table_.name_bytes_ ? table_.name_bytes_ - at_ : 0;
        Reader in(table_.names_ + (table_.name_bytes_ - left), left);
        const auto shared = in.fixed<Byte>();
        const auto rest = in.fixed<Byte>();
        const Byte* const bytes = in.bytes(rest);
        if (!in.ok() || shared > size_ || shared + std::size_t{rest} > max_name_bytes) {
            at_ = table_.name_bytes_;  // the block's other names are empty too
            size_ = 0;
            return;
        }
        for (unsigned i = 0; i < rest; ++i) name_[shared + i] = static_cast<char>(bytes[i]);
        size_ = shared + std::size_t{rest};
        at_ += 2u + rest;
    }

    const NameTable& table_;
    std::uint32_t next_ = 0;  // index of the current name, plus 1
    std::uint32_t at_ = 0;
    std::size_t size_ = 0;
    bool is_alias_ = false;  // data() is an alias
    char name_[max_name_bytes];
};

}  // namespace nopscope::protocol
