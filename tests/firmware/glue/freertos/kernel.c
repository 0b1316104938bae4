// SPDX-License-Identifier: Apache-2.0
// A stand-in for FreeRTOS' kernel. It uses each macro of the glue once.
#include "FreeRTOS.h"

struct item {
    const void* list;
};
struct tcb {
    uint64_t* pxStack;
    uint64_t* pxEndOfStack;
    struct item xStateListItem;
    uint64_t uxPriority, uxTCBNumber, uxTaskNumber;
    char pcTaskName[16];
};
#define listIS_CONTAINED_WITHIN(expected, item) ((item)->list == (expected))

uint64_t ullPortInterruptNesting, ullPortYieldRequired;
static struct tcb* pxCurrentTCB;
static char pxReadyTasksLists[8], xTasksWaitingTermination;

void use(struct tcb* tcb, void* object);
void use(struct tcb* tcb, void* object) {
    traceTASK_CREATE(tcb);
    traceTASK_PRIORITY_SET(tcb, 3);
    traceMOVED_TASK_TO_READY_STATE(tcb);
    traceTASK_SWITCHED_OUT();
    pxCurrentTCB = tcb;
    traceTASK_SWITCHED_IN();
    portCLEAN_UP_TCB(tcb);

    traceQUEUE_REGISTRY_ADD(object, "queue");
    traceQUEUE_SEND(object);
    traceQUEUE_SEND_FROM_ISR(object);
    traceQUEUE_RECEIVE(object);
    traceQUEUE_RECEIVE_FROM_ISR(object);
    traceBLOCKING_ON_QUEUE_SEND(object);
    traceBLOCKING_ON_QUEUE_RECEIVE(object);
    traceBLOCKING_ON_QUEUE_PEEK(object);
    traceQUEUE_DELETE(object);
    traceEVENT_GROUP_SET_BITS(object, 1);
    traceEVENT_GROUP_WAIT_BITS_BLOCK(object, 1);
    traceEVENT_GROUP_SYNC_BLOCK(object, 1, 2);
    traceSTREAM_BUFFER_SEND(object, 1);
    traceSTREAM_BUFFER_SEND_FROM_ISR(object, 1);
    traceSTREAM_BUFFER_RECEIVE(object, 1);
    traceSTREAM_BUFFER_RECEIVE_FROM_ISR(object, 1);
    traceBLOCKING_ON_STREAM_BUFFER_SEND(object);
    traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(object);
}
