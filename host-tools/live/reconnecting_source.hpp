// SPDX-License-Identifier: Apache-2.0
// A line that survives a loss (an unplugged adapter, a closed connection): read() opens it again,
// and pauses between attempts.
#pragma once

#include <functional>

#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

class ReconnectingSource final : public Source {
public:
    using Open = std::function<std::unique_ptr<Source>()>;  // throws Error

    // Opens the line. Throws Error.
    explicit ReconnectingSource(Open open,
                                std::chrono::milliseconds pause = std::chrono::seconds(1))
        : open_(std::move(open)), pause_(pause), source_(open_()) {}

    // The result never says `closed`.
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override;
    void write(std::span<const std::uint8_t> bytes) override;  // also throws Error while it is lost
    void set_baud(std::uint32_t baud) override;
    void follow_baud(std::uint32_t baud) override;
    bool may_try_rates() const override { return source_ != nullptr && source_->may_try_rates(); }
    std::string others() const override { return source_ ? source_->others() : std::string(); }
    std::uint32_t baud() const override { return source_ ? source_->baud() : baud_; }
    std::optional<int> close() override { return source_ ? source_->close() : std::nullopt; }

    // How often the line was lost; and why, a sentence, while it is lost.
    std::uint64_t losses() const { return losses_; }
    bool is_lost() const { return source_ == nullptr; }
    const std::string& why() const { return why_; }

private:
    void lose(const std::string& why);
    void open_again();
    Source& line();  // throws Error while it is lost

    Open open_;
    std::chrono::milliseconds pause_;
    std::unique_ptr<Source> source_;
    std::uint32_t baud_ = 0;  // the last rate that was set; 0: none
    std::uint64_t losses_ = 0;
    std::string why_;
    std::chrono::steady_clock::time_point next_attempt_{};
};

}  // namespace nopscope::host
