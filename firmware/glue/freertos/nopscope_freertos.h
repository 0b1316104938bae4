// SPDX-License-Identifier: Apache-2.0
// FreeRTOS' trace macros for nopscope. The last line of FreeRTOSConfig.h includes this file.
// docs/rtos.md says what else a firmware needs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if NOPSCOPE_ENABLED

#if !configUSE_TRACE_FACILITY || !configRECORD_STACK_HIGH_ADDRESS
#error "nopscope needs configUSE_TRACE_FACILITY and configRECORD_STACK_HIGH_ADDRESS"
#endif

// Once, after nopscope_init() and before the first task is created. The bounds are those of the
// stack that main() runs on: FreeRTOS keeps it for interrupts and for its choice of the next task.
void nopscope_freertos_start(uint64_t stack_low, uint64_t stack_high);
// The first and the last call of vApplicationIRQHandler(), which must not be traced itself.
// nopscope_freertos_interrupt_end() masks interrupts.
uint64_t nopscope_freertos_interrupt_begin(uint32_t number);
void nopscope_freertos_interrupt_end(uint64_t begun);
// For nopscope_config::interrupt_depth and nopscope_config::interrupted_pc.
const volatile uint32_t* nopscope_freertos_interrupt_depth(unsigned core);
uint64_t nopscope_freertos_interrupted_pc(void);

// A task's number in the glue is its TCB's uxTaskNumber, which is for tracers. 0: it has none.
uint64_t nopscope_freertos_create(uint64_t stack_low, uint64_t stack_high, const char* name,
                                  uint64_t priority, uint64_t id);
void nopscope_freertos_set_priority(uint64_t task, const char* name, uint64_t priority,
                                    uint64_t id);
void nopscope_freertos_delete(uint64_t task);
void nopscope_freertos_out(uint64_t priority, bool is_ready, bool has_ended);
void nopscope_freertos_in(uint64_t task, uint64_t priority);
void nopscope_freertos_ready(uint64_t task);
void nopscope_freertos_takes(const volatile void* object);
void nopscope_freertos_gives(const volatile void* object);
void nopscope_freertos_waits(const volatile void* object);
void nopscope_freertos_name(const volatile void* object, const char* name);

#define traceTASK_CREATE(tcb)                                                                   \
    (tcb)->uxTaskNumber =                                                                       \
        nopscope_freertos_create((uint64_t)(tcb)->pxStack, (uint64_t)((tcb)->pxEndOfStack + 1), \
                                 (tcb)->pcTaskName, (tcb)->uxPriority, (tcb)->uxTCBNumber)
#define traceTASK_PRIORITY_SET(tcb, priority)                                          \
    nopscope_freertos_set_priority((tcb)->uxTaskNumber, (tcb)->pcTaskName, (priority), \
                                   (tcb)->uxTCBNumber)
#define portCLEAN_UP_TCB(tcb) nopscope_freertos_delete((tcb)->uxTaskNumber)

#if INCLUDE_vTaskDelete
#define NOPSCOPE_FREERTOS_HAS_ENDED \
    listIS_CONTAINED_WITHIN(&xTasksWaitingTermination, &pxCurrentTCB->xStateListItem)
#else
#define NOPSCOPE_FREERTOS_HAS_ENDED false
#endif
#define traceTASK_SWITCHED_OUT()                                                                \
    nopscope_freertos_out(pxCurrentTCB->uxPriority,                                             \
                          listIS_CONTAINED_WITHIN(&pxReadyTasksLists[pxCurrentTCB->uxPriority], \
                                                  &pxCurrentTCB->xStateListItem),               \
                          NOPSCOPE_FREERTOS_HAS_ENDED)
#define traceTASK_SWITCHED_IN() \
    nopscope_freertos_in(pxCurrentTCB->uxTaskNumber, pxCurrentTCB->uxPriority)
// The kernel also moves the running task, when its priority changes.
#define traceMOVED_TASK_TO_READY_STATE(tcb)                                      \
    do {                                                                         \
        if ((tcb) != pxCurrentTCB) nopscope_freertos_ready((tcb)->uxTaskNumber); \
    } while (0)

// Queues, semaphores and mutexes are one kind of object to FreeRTOS.
#define traceQUEUE_SEND(queue) nopscope_freertos_gives(queue)
#define traceQUEUE_SEND_FROM_ISR(queue) nopscope_freertos_gives(queue)
#define traceQUEUE_RECEIVE(queue) nopscope_freertos_takes(queue)
#define traceQUEUE_RECEIVE_FROM_ISR(queue) nopscope_freertos_takes(queue)
#define traceBLOCKING_ON_QUEUE_SEND(queue) nopscope_freertos_waits(queue)
#define traceBLOCKING_ON_QUEUE_RECEIVE(queue) nopscope_freertos_waits(queue)
#define traceBLOCKING_ON_QUEUE_PEEK(queue) nopscope_freertos_waits(queue)
#define traceQUEUE_REGISTRY_ADD(queue, name) nopscope_freertos_name((queue), (name))
#define traceQUEUE_DELETE(queue) nopscope_freertos_name((queue), 0)

#define traceEVENT_GROUP_SET_BITS(group, bits) nopscope_freertos_gives(group)
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, bits) nopscope_freertos_waits(group)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, awaited) nopscope_freertos_waits(group)

#define traceSTREAM_BUFFER_SEND(buffer, bytes) nopscope_freertos_gives(buffer)
#define traceSTREAM_BUFFER_SEND_FROM_ISR(buffer, bytes) nopscope_freertos_gives(buffer)
#define traceSTREAM_BUFFER_RECEIVE(buffer, bytes) nopscope_freertos_takes(buffer)
#define traceSTREAM_BUFFER_RECEIVE_FROM_ISR(buffer, bytes) nopscope_freertos_takes(buffer)
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(buffer) nopscope_freertos_waits(buffer)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(buffer) nopscope_freertos_waits(buffer)

#else

static inline void nopscope_freertos_start(uint64_t low, uint64_t high) { (void)low, (void)high; }
static inline uint64_t nopscope_freertos_interrupt_begin(uint32_t number) { return number; }
static inline void nopscope_freertos_interrupt_end(uint64_t begun) { (void)begun; }
static inline const volatile uint32_t* nopscope_freertos_interrupt_depth(unsigned core) {
    (void)core;
    return 0;
}
static inline uint64_t nopscope_freertos_interrupted_pc(void) { return 0; }

#endif
