// SPDX-License-Identifier: Apache-2.0
// libzstd, one frame at a time into a buffer that is used again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace nopscope::host::nsc {

class Compressor {
public:
    Compressor();
    // Valid until the next call. Throws Error when memory is short.
    std::span<const std::uint8_t> operator()(std::span<const std::uint8_t> body);

private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::vector<std::uint8_t> out_;
};

class Decompressor {
public:
    Decompressor();
    // Valid until the next call. Nothing: no zstd frame, or of more than max_body_bytes, or one
    // that does not say how many.
    std::optional<std::span<const std::uint8_t>> operator()(std::span<const std::uint8_t> frame);

private:
    struct Free {
        void operator()(ZSTD_DCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_DCtx_s, Free> context_;
    std::vector<std::uint8_t> out_;
};

}  // namespace nopscope::host::nsc
