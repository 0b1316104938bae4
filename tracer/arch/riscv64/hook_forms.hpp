// SPDX-License-Identifier: Apache-2.0
// A hook has one form (contract: tracer/arch/hook_forms.hpp). It leaves by a jump that is no return
// for the return predictor: the traced function's RET took the entry of the caller's call.
#pragma once

namespace nopscope::arch {

template <typename M>
void adapt_hooks_to_cpu(M&) {}

}  // namespace nopscope::arch
