// graph.js draws the order that the server lays out: solid lines are order, dashed ones refresh.
// Boxes are buttons: the arrow keys lead along the lines.
import { html, useEffect, useRef, useState } from "/vendor/ui.js";
import { doc, byID, choose, selected, current, resources, tell, outcomes, dialog } from "/store.js";
import { get } from "/api.js";
import { job } from "/plan.js";

function line(points) {
  let d = `M${points[0][0]},${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [px, py] = points[i - 1], [x, y] = points[i], m = (px + x) / 2;
    d += Math.abs(y - py) < .5 ? `H${x}` : `C${m},${py} ${m},${y} ${x},${y}`;
  }
  return d;
}

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
  return html`<section class="page graphs" aria-label="Graph"><div class="bar"><span class="quiet">${g?.boxes ? resources.value.length + " resources, " + g.lines.length + " lines. Solid: before. Dashed: refreshes." : ""}</span><span class="space"></span>
      <label class="inline"><input type="checkbox" checked=${stack > 0} onChange=${e => { setStack(e.target.checked ? 3 : 0); setOpen(null); }} /> stack alike</label>
      <button aria-label="Smaller" onClick=${() => setZoom(Math.max(.25, zoom / 1.25))}>−</button><button onClick=${fit}>Fit</button><button aria-label="Larger" onClick=${() => setZoom(Math.min(3, zoom * 1.25))}>+</button></div>
    ${stacked ? html`<div class="members"><b>${stacked.label}</b>${stacked.members.map(m => html`<button key=${m} class="chip" onClick=${() => { const r = byID.value.get(m); if (r) choose(r.key); }}>${m.slice(m.indexOf("#") + 1)}</button>`)}</div>` : null}
    <div class="canvas" ref=${box} tabindex="-1" onKeyDown=${keys}>
      ${g?.error ? html`<p class="pad quiet">${g.error}</p>` : !g ? html`<p class="pad quiet">…</p>` : !g.boxes?.length ? html`<p class="pad quiet">Nothing is declared yet.</p>` : html`
      <svg role="group" aria-label="what comes before what" width=${g.width * zoom} height=${g.height * zoom} viewBox=${`0 0 ${g.width} ${g.height}`} class="graph">
        <defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,.8 L8,4 L0,7.2z" /></marker></defs>
        ${g.lines.map((l, i) => html`<path key=${i} class=${(l.refresh ? "refresh" : "") + (g.boxes[l.from].members.includes(id) || g.boxes[l.to].members.includes(id) ? " hot" : "")} d=${line(l.points)} marker-end="url(#tip)" />`)}
        ${g.boxes.map((b, i) => html`<g key=${i} class=${"node " + (b.outcome ?? "") + (b.members.includes(id) ? " now" : "")} style=${{ "--h": b.hue }} role="button" tabindex=${i === at ? 0 : -1} aria-label=${b.type + " " + b.label + (b.outcome ? ", " + b.outcome : "")} aria-expanded=${b.members.length > 1 ? open === i : undefined} onClick=${() => pick(b, i)} onFocus=${() => setAt(i)}>
          <title>${b.members.slice(0, 50).join("\n")}${b.members.length > 50 ? "\nand " + (b.members.length - 50) + " more" : ""}</title>
          ${b.members.length > 1 ? html`<rect x=${b.x + 4} y=${b.y - 4} width=${b.w - 1} height=${b.h} rx="6" />` : null}
          <rect x=${b.x} y=${b.y} width=${b.w} height=${b.h} rx="6" /><circle class="dot" cx=${b.x + 11} cy=${b.y + b.h / 2} r="4" />
          <text x=${b.x + 21} y=${b.y + b.h / 2 + 4}><tspan class="type">${b.type}</tspan> ${b.label}</text></g>`)}
      </svg>`}</div></section>`;
}
