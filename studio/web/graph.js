// graph.js draws the order that the server lays out: solid lines are order, dashed ones refresh.
// Boxes are buttons: the arrow keys lead along the lines.
import { html, useEffect, useRef, useState } from "/vendor/ui.js";
import { doc, byID, choose, selected, current, resources, tell, outcomes, dialog } from "/store.js";
import { get } from "/api.js";
import { job } from "/plan.js";
import { part } from "/parts.js";

export function GraphView() {
  const [g, setG] = useState(null), [stack, setStack] = useState(3), [open, setOpen] = useState(null), [zoom, setZoom] = useState(1), box = useRef(), [at, setAt] = useState(0);
  const rev = doc.value?.rev, file = doc.value?.file, checked = doc.value?.checked, n = Object.keys(outcomes.value).length;
  useEffect(() => {
    let on = true;
    const timer = setTimeout(() => get("/api/graph", { file, stack, ...(job.value ? { job: job.value.job } : {}) }).then(x => on && setG(x), e => on && setG({ error: e.message })), 30);
    return () => { on = false; clearTimeout(timer); };
  }, [rev, file, stack, n, checked]);
  const pick = (b, i) => {
    setAt(i);
    if (b.members.length > 1) { setOpen(open === i ? null : i); return; }
    const r = byID.value.get(b.members[0]);
    if (r) choose(r.key);
  };
  const keys = e => {
    const b = g.boxes[at];
    if (!b) return;
    let to = -1;
    if (e.key === "ArrowRight") to = g.lines.find(l => l.from === at)?.to ?? -1;
    else if (e.key === "ArrowLeft") to = g.lines.find(l => l.to === at)?.from ?? -1;
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const s = e.key === "ArrowDown" ? 1 : -1;
      let best = Infinity;
      g.boxes.forEach((o, i) => { const dy = (o.y - b.y) * s; if (i !== at && dy > 1) { const d = dy + Math.abs(o.x - b.x) * 3; if (d < best) { best = d; to = i; } } });
    } else if (e.key === "Home") to = 0;
    else if (e.key === "Enter" || e.key === " ") { pick(b, at); e.preventDefault(); return; }
    else if (e.key === "r" || e.key === "R") { const r = byID.value.get(b.members[0]); if (r) dialog.value = { kind: "link", from: r.key }; e.preventDefault(); return; }
    else return;
    e.preventDefault();
    if (to >= 0) { setAt(to); box.current.querySelectorAll(".node")[to]?.focus(); }
  };
  const fit = () => { if (g?.width) setZoom(Math.max(.25, Math.min(1.4, (box.current.clientWidth - 12) / g.width, (box.current.clientHeight - 12) / g.height))); };
  useEffect(() => { if (g?.width && box.current && g.width > box.current.clientWidth) fit(); }, [g?.width]);
  const id = current.value?.id;
  const stacked = g?.boxes?.[open];
  const elements = g?.drawing?.filter(Array.isArray).slice(1) ?? [], mine = b => b.members.includes(id);
  const add = (name, attrs, node) => { // what a page that is alive has besides the picture
    if (name === "svg") return { ...attrs, role: "group", width: g.width * zoom, height: g.height * zoom };
    const n = elements.indexOf(node), l = g.lines[n], i = n - g.lines.length, b = g.boxes[i];
    if (n < 0) return attrs;
    if (l) return { ...attrs, class: (attrs.class ?? "") + (mine(g.boxes[l.from]) || mine(g.boxes[l.to]) ? " hot" : "") };
    return { ...attrs, class: "node " + attrs.class + (mine(b) ? " now" : ""), role: "button", tabindex: i === at ? 0 : -1, "aria-label": b.type + " " + b.label + (b.outcome ? ", " + b.outcome : ""), "aria-expanded": b.members.length > 1 ? open === i : undefined, onClick: () => pick(b, i), onFocus: () => setAt(i) };
  };
  const says = g?.boxes ? resources.value.length + " resources, " + g.lines.length + " lines. Solid: before. Dashed: refreshes." : "";
  return html`<section class="page graphs" aria-label="Graph"><div class="bar"><span class="quiet" title=${says}>${says}</span><span class="space"></span>
      <label class="inline"><input type="checkbox" checked=${stack > 0} onChange=${e => { setStack(e.target.checked ? 3 : 0); setOpen(null); }} /> stack alike</label>
      <button aria-label="Smaller" onClick=${() => setZoom(Math.max(.25, zoom / 1.25))}>−</button><button onClick=${fit}>Fit</button><button aria-label="Larger" onClick=${() => setZoom(Math.min(3, zoom * 1.25))}>+</button></div>
    ${stacked ? html`<div class="members"><b>${stacked.label}</b>${stacked.members.map(m => html`<button key=${m} class="chip" onClick=${() => { const r = byID.value.get(m); if (r) choose(r.key); }}>${m.slice(m.indexOf("#") + 1)}</button>`)}</div>` : null}
    <div class="canvas" ref=${box} tabindex="-1" onKeyDown=${keys}>
      ${g?.error ? html`<p class="pad quiet">${g.error}</p>` : !g ? html`<p class="pad quiet">…</p>` : !g.boxes?.length ? html`<p class="pad quiet">Nothing is declared yet.</p>` : html`
      ${part(g.drawing, add)}`}</div></section>`;
}
