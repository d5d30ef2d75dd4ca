// parts.js shows the parts that reports have too: the drawing of the order, rows, bars. The server
// sends them as [name, attributes, ...children], where text is text (runtime/markup).
import { html, h, useState } from "/vendor/ui.js";

// part makes an element. more(name, attributes, node) returns the attributes with what the page adds.
export function part(node, more = (name, attrs) => attrs) {
  if (typeof node === "string") return node;
  const [name, attrs, ...inside] = node;
  if (name === "details") return h(Opening, { attrs: more(name, attrs, node), inside, more });
  return h(name, more(name, attrs, node), inside.map(n => part(n, more)));
}

// Opening has what is inside in the page only while it is open.
function Opening({ attrs: { open: first, ...attrs }, inside: [head, ...rest], more }) {
  const [open, setOpen] = useState(first !== undefined);
  return h("details", { ...attrs, open, onToggle: e => setOpen(e.currentTarget.open) }, part(head, more), open ? rest.map(n => part(n, more)) : null);
}

// Rows are events, each of which opens.
export function Rows({ list, onChoose, page = 300 }) {
  const [n, setN] = useState(page);
  return html`<div class="events">${list.slice(0, n).map((e, i) => html`<${Row} key=${e.type + "#" + e.name + i} event=${e} onChoose=${onChoose} />`)}</div>
    ${list.length > n ? html`<button class="more" onClick=${() => setN(n + 1000)}>${list.length - n} more</button>` : null}`;
}
const Row = ({ event: e, onChoose }) => part(e.row, (name, attrs) => name === "summary" && onChoose ? { ...attrs, onClick: () => onChoose(e.type + "#" + e.name) } : attrs);

// Inside is what the row of an event shows when it is open.
export const Inside = ({ event: e }) => part(e.row.at(-1));
