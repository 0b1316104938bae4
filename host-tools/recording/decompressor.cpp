// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/decompressor.hpp"

#include <zstd.h>

#include "host-tools/base/out_of_memory.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
    if (!context_) exit_out_of_memory();
}

std::optional<std::span<const std::uint8_t>> Decompressor::operator()(
    std::span<const std::uint8_t> frame) {
    // ZSTD_CONTENTSIZE_UNKNOWN and ZSTD_CONTENTSIZE_ERROR are the largest numbers.
    const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size > max_body_bytes) return std::nullopt;
    if (out_.size() < size) out_.resize(static_cast<std::size_t>(size));
    const std::size_t count =
        ZSTD_decompressDCtx(context_.get(), out_.data(), out_.size(), frame.data(), frame.size());
    if (ZSTD_isError(count) != 0) return std::nullopt;
    return std::span<const std::uint8_t>(out_.data(), count);
}

}  // namespace nopscope::host::nsc
