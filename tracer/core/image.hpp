// SPDX-License-Identifier: Apache-2.0
// Symbols of linker/sections.ld, which a firmware with another linker script must define, too.
#pragma once

#include "tracer/protocol/hello.hpp"

#include <cstdint>

extern "C" {
extern const char __text_start[], __text_end[];
extern std::uint64_t __nopscope_sites_start[], __nopscope_sites_end[];
extern const std::uint8_t __build_id_note_start[], __build_id_note_end[];
// Optional: null if the image has no name table.
[[gnu::weak]] extern const std::uint8_t __nopscope_names_start[], __nopscope_names_end[];
}

namespace nopscope {

inline protocol::Text text_of(const char* string) {
    protocol::Text text{reinterpret_cast<const protocol::Byte*>(string), 0};
    while (text.size < 255 && string[text.size] != 0) ++text.size;
    return text;
}

// The descriptor of an ELF note (.note.gnu.build-id): namesz, descsz, type (u32 each), name, bytes.
inline protocol::Text build_id(const std::uint8_t* note, const std::uint8_t* end) {
    protocol::Reader in(note, static_cast<std::size_t>(end - note));
    const auto name_bytes = in.fixed<std::uint32_t>();
    const auto id_bytes = in.fixed<std::uint32_t>();
    in.fixed<std::uint32_t>();
    in.bytes((std::size_t{name_bytes} + 3) & ~std::size_t{3});
    const protocol::Byte* id = in.bytes(id_bytes);
    if (!in.ok() || id_bytes > 255) return {};
    return {id, static_cast<std::uint8_t>(id_bytes)};
}

}  // namespace nopscope
