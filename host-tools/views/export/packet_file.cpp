// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/export/packet_file.hpp"

#include <zlib.h>

#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/views/export/perfetto_packets.hpp"

namespace nopscope::host {

void PacketFile::make_room(std::size_t bytes) {
    write_block();
    if (block_.size() < bytes) block_.resize(bytes);
}

void PacketFile::write_block() {
    const std::size_t bytes = std::exchange(used_, 0);
    if (bytes == 0) return;
    if (is_bare_) return file_.write({block_.data(), bytes});
    uLongf size = compressBound(bytes);
    packed_.resize(size);
    const auto* const from = reinterpret_cast<const Bytef*>(block_.data());
    if (compress2(reinterpret_cast<Bytef*>(packed_.data()), &size, from, bytes, Z_BEST_SPEED) !=
        Z_OK) {
        throw Error("zlib cannot begin: is there memory left?");
    }
    packed_.resize(size);
    const Proto packet = Proto().bytes(perfetto::packet::compressed_packets, packed_);
    file_.write(Proto().message(perfetto::trace::packet, packet).text());
}

void PacketFile::close() {
    write_block();
    file_.close();
}

}  // namespace nopscope::host
