// SPDX-License-Identifier: Apache-2.0
// The two things that `serve` shows: a recording, or a line.
#pragma once

#include <mutex>
#include <string>

#include "host-tools/live/live.hpp"
#include "host-tools/live/rates.hpp"
#include "host-tools/views/page/code.hpp"
#include "host-tools/views/serve/shown.hpp"

namespace nopscope::host {

class ShownFile final : public Shown {
public:
    ShownFile(const std::string& path, std::string view, std::string opening);

    std::shared_ptr<const View> view() override { return view_; }
    std::string status(std::uint64_t& console) override;
    std::string opening() const override { return opening_; }
    SavedRecording recording() override;
    ControlAnswer ask(const ControlRequest& request) override;

private:
    std::string status_;
    std::shared_ptr<const View> view_;
    std::string opening_;
};

// Takes a view at most once a second, and only while somebody asks for it.
class ShownLine final : public Shown {
public:
    // Limit of call paths, because a page draws them again and again.
    static constexpr std::size_t most_paths = 10'000;

    // `code`: for the image; may be null.
    ShownLine(Live& live, const std::string& title, bool raw, const CodeView* code)
        : live_(live), title_(title), raw_(raw), code_(code) {}

    std::shared_ptr<const View> view() override;
    std::string status(std::uint64_t& console) override;
    SavedRecording recording() override { return live_.saved(); }
    ControlAnswer ask(const ControlRequest& request) override { return live_.ask(request).get(); }

private:
    void refresh();

    Live& live_;
    const std::string title_;
    const bool raw_;
    const CodeView* const code_;
    std::mutex mutex_;  // guards the members below
    LiveView now_;
    std::optional<Rates> rates_;
    StreamCounters seen_;               // the counters that number_ stands for
    std::uint64_t number_ = 0;          // number of the newest state; 0: none
    std::shared_ptr<const View> view_;  // its number is number_ or an earlier one
};

}  // namespace nopscope::host
