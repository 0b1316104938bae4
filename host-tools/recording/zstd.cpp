// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/zstd.hpp"

#include <zstd.h>

#include <string>

#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Compressor::Compressor() : context_(ZSTD_createCCtx()) {}

Result<std::span<const std::uint8_t>> Compressor::operator()(std::span<const std::uint8_t> body) {
    if (!context_) return failure("no memory to compress the recording");
    out_.resize(ZSTD_compressBound(body.size()));
    const std::size_t count = ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(),
                                                body.data(), body.size(), zstd_level);
    if (ZSTD_isError(count) != 0) {
        return failure(std::string("cannot compress the recording: ") + ZSTD_getErrorName(count));
    }
    return std::span<const std::uint8_t>(out_.data(), count);
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {}

std::optional<std::span<const std::uint8_t>> Decompressor::operator()(
    std::span<const std::uint8_t> frame) {
    // ZSTD_CONTENTSIZE_UNKNOWN and ZSTD_CONTENTSIZE_ERROR are the largest numbers.
    const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size > max_body_bytes) return std::nullopt;
    if (out_.size() < size) out_.resize(size);
    const std::size_t count =
        ZSTD_decompressDCtx(context_.get(), out_.data(), out_.size(), frame.data(), frame.size());
    if (ZSTD_isError(count) != 0) return std::nullopt;
    return std::span<const std::uint8_t>(out_.data(), count);
}

}  // namespace nopscope::host::nsc
