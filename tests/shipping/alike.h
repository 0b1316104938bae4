/* SPDX-License-Identifier: Apache-2.0
 * Calls that are alike in C and in C++, for main() of every.c and every.cpp. N(stop) is
 * nopscope_stop or nopscope::stop. */
EXPECT(N(describe)(OK)[0] == 0);
EXPECT(N(synchronize)());
EXPECT(N(site_count)() == 0);
EXPECT(N(site)(0).address == 0 && !N(site)(0).usable);
EXPECT(N(site_name)(0, NULL, 0) == 0);
CALL(N(stop)();)
CALL(N(start)();)
CALL(N(set_min_duration)(1);)
CALL(N(set_max_depth)(1);)
CALL(N(set_sample)(1);)
EXPECT(N(trace_only_below)(ALL) == OK);
EXPECT(N(trace_everywhere)() == OK);
CALL(N(pump)();)
EXPECT(N(profile_bytes)(1) == 0);
CALL(N(send_profile)();)
CALL(N(finish)();)
CALL(N(prepare_reset)();)
CALL(N(console_write)("nopscope", 8);)
CALL(N(enter_panic)();)
EXPECT(!N(is_return_hook)(0));
EXPECT(N(hooked_return_address_of)(0, 1) == 0);
EXPECT(N(hooked_return_address)(0) == 0);
EXPECT(!N(is_entry_code)(0));
EXPECT(N(counters)().sites == 0 && N(counters)().generated == 0);
EXPECT(N(last_error)().address == 0);

CALL(N(counter)(1, -1);)
EXPECT(N(capture_arguments)(ALL, 1) == OK);
EXPECT(N(capture_result)(ALL) == OK);
EXPECT(N(capture_nothing)(ALL) == OK);
EXPECT(N(name_object)(1, "queue"));

EXPECT(N(interrupt_begin)(1) == 0);
CALL(N(interrupt_end)(0);)
CALL(N(interrupts_masked)(0);)
CALL(N(interrupts_unmasked)();)
CALL(N(mark)(1);)
CALL(N(snapshot)(1);)
