// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/part/checkpoints.hpp"

#include <algorithm>
#include <utility>

#include "host-tools/analysis/profile/prices.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint64_t price_of_point = 16'384;
constexpr std::uint64_t price_of_open_call = 256;
constexpr std::uint64_t price_of_function = 64;

// Those of a point, from which nothing is passed on.
SessionSink no_sink;
NoEvents no_events;

}  // namespace

const Checkpoints::Point* Checkpoints::before(Nanoseconds from) const {
    const auto after = std::ranges::partition_point(
        points_, [from](const Point& point) { return point.reached < from; });
    return after == points_.begin() ? nullptr : &*std::prev(after);
}

const Checkpoints::Point* Checkpoints::at_end_of(std::uint64_t session) const {
    const auto at = std::ranges::find(ends_, session, &Point::session);
    return at == ends_.end() ? nullptr : &*at;
}

std::vector<unsigned> Checkpoints::cores() const {
    std::vector<unsigned> numbers;
    for (const nsc::BlockCounts& block : blocks_) {
        if (block.core && std::ranges::find(numbers, *block.core) == numbers.end())
            numbers.push_back(*block.core);
    }
    return numbers;
}

bool Checkpoints::pay(std::uint64_t price) {
    while (!budget_.take(price)) {
        if (points_.size() < 2) return false;
        thin_out();
    }
    return true;
}

// Every second point goes.
void Checkpoints::thin_out() {
    std::vector<Point> kept;
    for (std::size_t at = 0; at < points_.size(); ++at) {
        if (at % 2 == 1)
            kept.push_back(std::move(points_[at]));
        else
            budget_.release(points_[at].price);
    }
    points_ = std::move(kept);
    distance_ *= 2;
}

void CheckpointWriter::on_block(std::size_t block, const nsc::BlockCounts& counts) {
    to_.blocks_.push_back(counts);
    if (counts.core) {
        const PartStream::Position now{
            .core = *counts.core, .next_index = counts.then.next_index, .clock = counts.then.clock};
        const auto known = std::ranges::find(positions_, now.core, &PartStream::Position::core);
        if (known == positions_.end())
            positions_.push_back(now);
        else
            *known = now;
    }
    if (block + 1 - last_ < to_.distance_) return;
    if (to_.points_.size() == Checkpoints::most) to_.thin_out();
    auto made = point();
    if (!made) return;
    last_ = block + 1;
    to_.points_.push_back(std::move(*made));
}

void CheckpointWriter::on_session(const HelloInfo& hello) {
    ++session_;
    positions_.clear();
    Tee::on_session(hello);
}

void CheckpointWriter::on_session_end() {
    if (auto made = point()) to_.ends_.push_back(std::move(*made));
    Tee::on_session_end();
}

// What is known now. Nothing: a core waits for another one, or there is no room.
std::optional<Checkpoints::Point> CheckpointWriter::point() {
    if (positions_.empty() || moves_.has_waiting() || !stream_.result()) return std::nullopt;
    const std::uint64_t price = price_of_point + stream_.contexts() * 2 * price::context +
                                stream_.open_calls() * price_of_open_call +
                                profile_.functions().size() * price_of_function;
    if (!to_.pay(price)) return std::nullopt;
    auto moves = std::make_unique<MovesInOrder>(no_sink);
    moves->resume(moves_);
    std::vector<std::optional<std::uint64_t>> first_clocks;
    for (const PartStream::Position& at : positions_)
        first_clocks.push_back(profile_.first_clock(at.core));
    return Checkpoints::Point{
        .blocks = to_.blocks_.size(),
        .session = session_,
        .reached = stream_.reached(),
        .positions = positions_,
        .first_clocks = std::move(first_clocks),
        .open = profile_.open_calls(MemoryBudget(0.02)),
        .stream = std::make_unique<BalancedStream>(stream_, no_events, [] { return nullptr; }),
        .moves = std::move(moves),
        .price = price};
}

CheckpointReader::CheckpointReader(MovesInOrder& moves, const Checkpoints& from, const Part& of,
                                   PartStream& part, Profile& profile)
    : Tee(static_cast<SessionSink&>(moves)),
      moves_(moves),
      from_(from),
      part_(part),
      profile_(profile),
      core_(of.core),
      cores_(from.cores()),
      begin_(of.time.from && of.task.empty() && of.under.empty() ? from.before(of.time.from->ns)
                                                                 : nullptr) {
    if (begin_ != nullptr && core_ && begin_->open->has_moved_calls()) begin_ = nullptr;
}

void CheckpointReader::on_session(const HelloInfo& hello) {
    ++session_;
    next_ = begin_ == nullptr || session_ > begin_->session ? nullptr
            : session_ == begin_->session                   ? begin_
                                                            : from_.at_end_of(session_);
    Tee::on_session(hello);
}

void CheckpointReader::on_session_end() {
    if (next_ != nullptr) resume(*next_);
    Tee::on_session_end();
}

const nsc::BlockCounts* CheckpointReader::left_out(std::size_t block) {
    if (next_ != nullptr && block == next_->blocks) resume(*next_);
    const bool is_left_out = next_ != nullptr || part_.is_over(cores_);
    return is_left_out ? &from_.blocks()[block] : nullptr;
}

void CheckpointReader::resume(const Checkpoints::Point& point) {
    next_ = nullptr;
    moves_.resume(*point.moves);
    part_.resume(*point.stream, point.positions);
    std::optional<std::uint64_t> first;
    for (std::size_t at = 0; at < point.positions.size(); ++at) {
        const auto& clock = point.first_clocks[at];
        if (!clock || (core_ && point.positions[at].core != *core_)) continue;
        if (!first || not_negative(*first - *clock) != 0) first = clock;
    }
    profile_.resume(*point.open, first, core_);
}

}  // namespace nopscope::host
