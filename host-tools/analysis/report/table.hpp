// SPDX-License-Identifier: Apache-2.0
// For analysis/events/event_sink.cpp: add_count().
#pragma once

#include "host-tools/base/text.hpp"
