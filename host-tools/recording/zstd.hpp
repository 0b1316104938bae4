// SPDX-License-Identifier: Apache-2.0
// Compresses and decompresses one zstd frame at a time, into a buffer that it reuses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host-tools/base/error.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace nopscope::host::nsc {

class Compressor {
public:
    Compressor();
    // The result is valid until the next call. Fails if memory is short.
    Result<std::span<const std::uint8_t>> operator()(std::span<const std::uint8_t> body);

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
    bool has_memory() const { return context_ != nullptr; }  // false: use nothing else
    // Valid until the next call. Nothing: `frame` is not a zstd frame, does not have its content's
    // size, or its content is longer than max_body_bytes.
    std::optional<std::span<const std::uint8_t>> operator()(std::span<const std::uint8_t> frame);

private:
    struct Free {
        void operator()(ZSTD_DCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_DCtx_s, Free> context_;
    std::vector<std::uint8_t> out_;
};

}  // namespace nopscope::host::nsc
