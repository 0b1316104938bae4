// SPDX-License-Identifier: Apache-2.0
// Decompresses one zstd frame at a time, into a buffer that it reuses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace nopscope::host::nsc {

class Decompressor {
public:
    Decompressor();
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
