// SPDX-License-Identifier: Apache-2.0

// Follows the pointer from where it was pressed until it is released. `to` is its x in the element.
// `ended` gets true if the pointer was moved, and false for a click or what the browser has ended.
export function follow(element: HTMLElement, event: PointerEvent, moved: (to: number) => void, ended: (moved: boolean) => void): void {
    const least = 3; // pixels
    let isDrag = false;
    element.setPointerCapture(event.pointerId);
    const move = (now: PointerEvent) => {
        isDrag ||= Math.abs(now.offsetX - event.offsetX) > least;
        if (isDrag) moved(now.offsetX);
    };
    const end = (now: PointerEvent) => {
        element.removeEventListener("pointermove", move);
        element.removeEventListener("pointerup", end);
        element.removeEventListener("pointercancel", end);
        ended(isDrag && now.type === "pointerup");
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
}
