// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/compressor.hpp"

#include <zstd.h>

#include <string>

#include "host-tools/base/error.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
    if (!context_) throw Error("no memory to compress the recording");
}

std::span<const std::uint8_t> Compressor::operator()(std::span<const std::uint8_t> body) {
    out_.resize(ZSTD_compressBound(body.size()));
    const std::size_t count = ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(),
                                                body.data(), body.size(), zstd_level);
    if (ZSTD_isError(count) != 0) {
        throw Error(std::string("cannot compress the recording: ") + ZSTD_getErrorName(count));
    }
    return {out_.data(), count};
}

}  // namespace nopscope::host::nsc
