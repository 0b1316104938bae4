// SPDX-License-Identifier: Apache-2.0
// A table that each column's head sorts, both ways.
import { found, make } from "./dom";
import type { Matches } from "./search";

type Value = number | string | null; // null: not known

export interface Column<Row> {
    key: string;
    head: string;
    title?: string;
    wide?: true; // only where the page is wide
    by: (of: Row) => Value;
    cell: (of: Row) => Node | string;
}

// The last column: what a row is about.
export interface Name<Row> {
    head: string;
    key: (of: Row) => string; // identifies the row
    name: (of: Row) => string;
    more?: (of: Row) => Node[];
    title?: (of: Row) => string;
    open?: (of: Row) => (() => void) | null; // what a click on the row does; null: nothing
    select?: (of: Row) => { title: string; done: () => void } | null; // a button that selects the row's calls
}

// An order is a column's key: largest numbers first, names from a to z. "-" before it: the other way.
export type Sort = (order: string) => void;

// Values that are not known are last both ways.
function compare(a: Value, b: Value, reversed: boolean): number {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (a === b) return 0;
    const first = typeof a === "number" ? a > (b as number) : a < b;
    return first === reversed ? 1 : -1;
}

// An order that the table does not know is its first column's.
export function table<Row>(columns: Column<Row>[], of: Name<Row>, rows: Row[], order: string, sort: Sort): HTMLElement {
    const names: Column<Row> = { key: "name", head: of.head, by: of.name, cell: () => "" };
    const all = [...columns, names];
    const key = order.replace(/^-/, "");
    const by = all.find((column) => column.key === key) ?? all[0];
    const reversed = key === by.key && order !== key;
    const sorted = [...rows].sort((a, b) => compare(by.by(a), by.by(b), reversed) || compare(of.name(a), of.name(b), false));
    const head = make("tr");
    for (const column of all) {
        const button = make("button", { title: column.title ?? "" }, column.head);
        button.onclick = () => sort(column === by && !reversed ? `-${by.key}` : column.key);
        const rises = column === by && (column === names) !== reversed;
        head.append(make("th", { ...(column === by ? { "aria-sort": rises ? "ascending" : "descending" } : {}), class: column === names ? "name" : classOf(column) }, button));
    }
    const body = make("tbody", {}, ...sorted.map((row) => line(columns, of, row)));
    body.onkeydown = walk;
    return make("table", {}, make("thead", {}, head), body);
}

const classOf = (column: { wide?: true }) => (column.wide ? "wide" : "");

function line<Row>(columns: Column<Row>[], of: Name<Row>, row: Row): HTMLElement {
    const open = of.open?.(row) ?? null;
    // A click on the button is one on the row, too.
    const name = open ? make("button", {}, of.name(row)) : of.name(row);
    const made = make("tr", { "data-key": of.key(row), class: open ? "opens" : "" }, ...columns.map((column) => make("td", { class: classOf(column) }, column.cell(row))),
        make("td", { class: "name", title: of.title?.(row) ?? "" }, name, ...(of.more?.(row) ?? []), ...selecting(of, row)));
    made.onclick = open;
    return made;
}

function selecting<Row>(of: Name<Row>, row: Row): Node[] {
    const select = of.select?.(row);
    if (!select) return [];
    const button = make("button", { class: "selects", title: select.title, "aria-label": select.title }, "Select");
    button.onclick = (event) => {
        event.stopPropagation(); // the row opens something else
        select.done();
    };
    return [button];
}

// Up and down move the focus to the next row that opens.
function walk(event: KeyboardEvent): void {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("td.name button:not(.selects)")];
    const at = buttons.indexOf(event.target as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    buttons[at + (event.key === "ArrowUp" ? -1 : 1)]?.focus();
}

// The rows of a table that shows only what the search finds.
export class RowMatches implements Matches {
    private current = "";

    constructor(private readonly host: HTMLElement) {}

    count(): number {
        return this.rows().length;
    }

    at(): number {
        return this.rows().findIndex((row) => row.dataset.key === this.current);
    }

    go(match: number): void {
        this.current = this.rows()[match].dataset.key!;
        this.mark();
        this.rows()[match].scrollIntoView({ block: "center" });
        found("announced").textContent = this.rows()[match].querySelector(".name")!.firstChild!.textContent;
    }

    mark(): void {
        for (const row of this.rows()) {
            if (row.dataset.key === this.current) row.setAttribute("aria-current", "true");
            else row.removeAttribute("aria-current");
        }
    }

    private rows(): HTMLElement[] {
        return [...this.host.querySelectorAll<HTMLElement>("tbody tr")];
    }
}
