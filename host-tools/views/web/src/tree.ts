// SPDX-License-Identifier: Apache-2.0
// Turns columns of paths into a tree of frames, from the outermost caller or from the callees.

export interface Frame {
    name: string;
    value: number; // without its children
    total: number;
    calls: number;
    fn: number;
    change: number; // self time minus that of the compared recording; a sum in fromCallees()
    before: number; // total, in the compared recording
    children: Frame[];
}

export interface Columns {
    parent: number[];
    function: number[];
    self: number[];
    total: number[];
    calls?: number[];
    before?: number[];
}

// The same paths, with samples instead of time.
export function sampledPaths(of: { parent: number[]; function: number[]; samples: number[] }): Columns {
    const total = [...of.samples];
    for (let at = total.length - 1; at > 0; --at) total[of.parent[at]] += total[at];
    return { parent: of.parent, function: of.function, self: of.samples, total };
}

export function fromCallers(of: Columns, name: (fn: number) => string): Frame {
    const frames: Frame[] = of.function.map((fn, at) => ({
        name: name(fn),
        value: of.self[at],
        total: of.total[at],
        calls: of.calls?.[at] ?? 0,
        fn,
        change: of.before ? of.self[at] - of.before[at] : 0,
        before: of.before?.[at] ?? 0,
        children: [],
    }));
    for (let at = frames.length - 1; at > 0; --at) frames[of.parent[at]].before += frames[at].before;
    for (let at = 1; at < frames.length; ++at) {
        const frame = frames[at];
        if (frame.total > 0 || frame.calls > 0) frames[of.parent[at]].children.push(frame);
    }
    return frames[0];
}

// Begins with the functions in which time was spent; a frame's children are its callers.
export function fromCallees(of: Columns, name: (fn: number) => string): Frame {
    const root: Frame = { name: name(of.function[0]), value: 0, total: 0, calls: 0, fn: of.function[0], change: 0, before: 0, children: [] };
    const known = new Map<Frame, Map<number, Frame>>([[root, new Map()]]);
    const child = (parent: Frame, fn: number): Frame => {
        const children = known.get(parent)!;
        let frame = children.get(fn);
        if (!frame) {
            frame = { name: name(fn), value: 0, total: 0, calls: 0, fn, change: 0, before: 0, children: [] };
            children.set(fn, frame);
            known.set(frame, new Map());
            parent.children.push(frame);
        }
        return frame;
    };
    for (let leaf = 1; leaf < of.function.length; ++leaf) {
        const self = of.self[leaf];
        const calls = of.calls?.[leaf] ?? 0;
        const before = of.before?.[leaf] ?? 0;
        if (self === 0 && calls === 0 && before === 0) continue;
        let frame = root;
        for (let at = leaf; at !== 0; at = of.parent[at]) {
            frame = child(frame, of.function[at]);
            frame.total += self;
            frame.calls += calls;
            frame.before += before;
            frame.change += of.before ? self - before : 0;
        }
        frame.value += self;
        root.total += self;
        root.before += before;
    }
    return root;
}

// A caller or a callee of a function. Calls and times count only its outermost frames.
export interface Neighbour {
    fn: number;
    calls: number;
    total: number;
}

export function neighbours(of: Columns, fn: number): { callers: Neighbour[]; callees: Neighbour[] } {
    const callers = new Map<number, Neighbour>();
    const callees = new Map<number, Neighbour>();
    const add = (to: Map<number, Neighbour>, other: number, at: number) => {
        const one = to.get(other) ?? { fn: other, calls: 0, total: 0 };
        one.calls += of.calls?.[at] ?? 0;
        one.total += of.total[at];
        to.set(other, one);
    };
    for (let at = 1; at < of.function.length; ++at) {
        if (of.calls?.[at] === 0) continue;
        const above = of.function[of.parent[at]];
        if (of.function[at] === fn) add(callers, above, at);
        if (above === fn && of.parent[at] !== 0) add(callees, of.function[at], at);
    }
    const sorted = (of: Map<number, Neighbour>) => [...of.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
    return { callers: sorted(callers), callees: sorted(callees) };
}
