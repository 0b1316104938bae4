/* SPDX-License-Identifier: Apache-2.0
 *
 * A site's ops change while two cores execute it. This is the protocol of tracer/patching/patcher.hpp, written a
 * second time by hand. (tests/verification/simulator/explorer.hpp explores the code itself.)
 *
 * Three ops have callbacks: `stay` stays, `leave` leaves, `come` comes. There are three requests:
 *
 *     1  {} -> {stay, leave}               the word becomes BL
 *     2  {stay, leave} -> {stay, come}     another list; the first one is freed
 *     3  {stay, come} -> {}                the word becomes NOP, then the slot that of no ops
 *
 * A core fetches what its pipeline holds. The pipeline refills at any time from the instruction cache, the cache
 * from the point of unification, and that from memory. DC CVAU and IC IVAU with a DSB after each, and then a context
 * synchronisation event, force the refill. Then the core makes these steps: it loads the slot, makes the callbacks,
 * reads the object once more, and leaves. In the trampoline an interrupt may come, whose handler executes the site.
 *
 * Synchronize waits until it has seen each core outside. With -D GUARDS it works as tracer.cpp does: each core
 * takes an interrupt, and then each guard that was taken at that moment must be seen free. A core before its guard
 * does not count: it may find the object of no ops, whose callback does nothing.
 *
 * Each mutant (-D NAME; tests/verification/model/CMakeLists.txt) must fail an assertion, and so must REACHED.
 */

#define CORES 2

#define NOP 0
#define BL  1

/* Objects that the slot may hold. */
#define NONE 0
#define OLD  1  /* the list {stay, leave} */
#define NEW  2  /* the list {stay, come} */

#define STAY  1
#define LEAVE 2
#define COME  4
/* The set after r requests. */
#define SET(r) ((r) == 1 -> STAY + LEAVE : ((r) == 2 -> STAY + COME : 0))

byte slot = NONE, slot_stored;   /* visible; stored, but not visible yet */
bit word = NOP, word_stored;
bool slot_waits = false, word_waits = false;
bit unified = NOP;               /* the word at the point of unification */
bit icache[CORES], pipeline[CORES];
bool cleaning = false, invalidating = false;  /* queued until the next DSB */

byte begun = 0, done = 0;        /* requests */
bool old_freed = false, new_freed = false;
bool interrupt[CORES];           /* from the patcher, pending */
bool asked[CORES];               /* synchronize waits for this core */
bool taken[4], awaited[4];       /* guards (core * 2 + depth): taken; synchronize waits for it */

/* Stores become visible and lines are refilled at any time. */
active proctype memory() {
end:
    do
    :: atomic { slot_waits -> slot = slot_stored; slot_waits = false }
    :: atomic { word_waits -> word = word_stored; word_waits = false }
    :: atomic { unified != word -> unified = word }
    :: atomic { icache[0] != unified -> icache[0] = unified }
    :: atomic { icache[1] != unified -> icache[1] = unified }
    :: atomic { pipeline[0] != icache[0] -> pipeline[0] = icache[0] }
    :: atomic { pipeline[1] != icache[1] -> pipeline[1] = icache[1] }
    od
}

/* ---- a core ----------------------------------------------------------------------------------- */

/* Where an execution is. */
#define OUTSIDE 0
#define LOAD    1
#define FIRST   2
#define SECOND  3
#define DIRECT  4

inline read_object() {
    assert(object[depth] != OLD || !old_freed);
    assert(object[depth] != NEW || !new_freed)
}

/* It overlapped requests start + 1 to begun. It ran what all their sets contain, and nothing that none contains. */
inline finish() {
    d_step {
        every = STAY + LEAVE + COME;
        any = 0;
        r = start[depth];
        do
        :: r <= begun -> every = every & SET(r); any = any | SET(r); r++
        :: else -> break
        od;
        assert((every & ~ran[depth]) == 0);
        assert((ran[depth] & ~any) == 0);
        r = 0; every = 0; any = 0;
        at[depth] = OUTSIDE; object[depth] = NONE; start[depth] = 0; ran[depth] = 0
    }
}

proctype core(byte me) {
    byte depth = 0;             /* 1: in an interrupt's handler */
    byte at[2], object[2], start[2], ran[2];
    byte r = 0, every = 0, any = 0;
end:
    do
    :: atomic { at[depth] == OUTSIDE ->
           start[depth] = done;
           if
           :: pipeline[me] == BL -> at[depth] = LOAD
           :: else -> finish()
           fi }
    :: atomic { at[depth] == LOAD ->
           object[depth] = slot;
#ifndef GUARDS
           assert(object[depth] != NONE);
#endif
           if
           :: object[depth] == NONE -> finish()
           :: else -> taken[me * 2 + depth] = true; at[depth] = FIRST
           fi }
    :: atomic { at[depth] == FIRST ->
           read_object();
           ran[depth] = STAY;
           at[depth] = SECOND }
    :: atomic { at[depth] == SECOND ->
           read_object();
           ran[depth] = ran[depth] | (object[depth] == OLD -> LEAVE : COME);
#ifdef GUARD_FREED_EARLY
           taken[me * 2 + depth] = false;
#endif
           at[depth] = DIRECT }
    :: atomic { at[depth] == DIRECT ->
           read_object();
           taken[me * 2 + depth] = false;
           finish() }
    /* An interrupt, and its end: context synchronisation events. */
    :: atomic { depth == 0 && at[0] != OUTSIDE -> depth = 1; pipeline[me] = icache[me] }
    :: atomic { depth == 1 && at[1] == OUTSIDE -> depth = 0; pipeline[me] = icache[me] }
    /* The patcher's. */
    :: atomic { interrupt[me] -> pipeline[me] = icache[me]; interrupt[me] = false }
#ifdef GUARDS
    :: atomic { asked[me] ->
           awaited[me * 2 + depth] = taken[me * 2 + depth];
#ifndef SYNC_IGNORES_INTERRUPTED
           awaited[me * 2] = taken[me * 2];
#endif
#elif defined(SYNC_IGNORES_INTERRUPTED)
    :: atomic { asked[me] && at[depth] == OUTSIDE ->
#else
    :: atomic { asked[me] && at[0] == OUTSIDE && depth == 0 ->
#endif
           pipeline[me] = icache[me];
           asked[me] = false }
    od
}

/* ---- the patcher ------------------------------------------------------------------------------ */

#define store_slot(object) atomic { slot_stored = object; slot_waits = true }
#define store_word(value)  atomic { word_stored = value; word_waits = true }

/* Completes the queue in the worst order: invalidates before cleans. */
inline dsb() {
    atomic {
        !slot_waits && !word_waits ->
        if
        :: invalidating -> icache[0] = unified; icache[1] = unified; invalidating = false
        :: else
        fi;
        if
        :: cleaning -> unified = word; cleaning = false
        :: else
        fi
    }
}

inline make_word_fetched() {
#ifndef NO_CLEAN
    cleaning = true;
#endif
#ifndef NO_BARRIER_AFTER_CLEAN
    dsb();
#endif
#ifndef NO_INVALIDATE
    invalidating = true;
#endif
#ifndef NO_BARRIER_AFTER_INVALIDATE
    dsb();
#endif
#ifndef NO_INTERRUPT
    atomic { interrupt[0] = true; interrupt[1] = true };
    !interrupt[0] && !interrupt[1]
#endif
}

inline synchronize() {
#ifndef NO_SYNCHRONIZE
    atomic { asked[0] = true; asked[1] = true };
    !asked[0] && !asked[1];
    /* One after the other. Each may be taken again in between. */
    for (guard : 0 .. 3) {
        !awaited[guard] || !taken[guard];
        awaited[guard] = false
    }
#else
    skip
#endif
}

init {
    byte guard;
    atomic { run core(0); run core(1) };

    begun = 1;
#ifndef WORD_BEFORE_SLOT
    store_slot(OLD);
#ifndef NO_BARRIER_AFTER_SLOT
    dsb();
#endif
#endif
    store_word(BL);
    make_word_fetched();
#ifdef WORD_BEFORE_SLOT
    store_slot(OLD);
    dsb();
#endif
    done = 1;

    begun = 2;
    store_slot(NEW);
    dsb();
#ifdef COLLECT_BEFORE_SYNCHRONIZE
    old_freed = true;
#endif
    synchronize();
    old_freed = true;
    done = 2;

    begun = 3;
#ifdef NONE_BEFORE_WORD
    store_slot(NONE);
#endif
    dsb();
    store_word(NOP);
    make_word_fetched();
#ifdef NONE_BEFORE_SYNCHRONIZE
    store_slot(NONE);
#endif
    synchronize();
    store_slot(NONE);
    dsb();
#ifdef GUARDS
#ifndef SYNCHRONIZE_ONCE
    synchronize();
#endif
#endif
    new_freed = true;
    done = 3;
#ifdef REACHED
    assert(false)
#endif
}
