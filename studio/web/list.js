// list.js shows the resources in their order. Only the rows that can be seen are in the page. The
// gutter has arcs: solid for require and before, dashed for subscribe and notify.
import { html, useEffect, useLayoutEffect, useRef, useState, signal } from "/vendor/ui.js";
import { doc, resources, selected, picked, filter, choose, pickedInOrder, pickedThen, mistakesOf, byID, edit, outcomes, dialog, say, session, view, open } from "/store.js";
import { hue, relations } from "/schema.js";
import { add } from "/palette.js";
import { copied } from "/clipboard.js";
import { wordOf, old } from "/plan.js";

const ROW = 34;
export const wrongOnly = signal(false);

export function Badge({ type, small }) { return html`<span class=${"badge" + (small ? " small" : "")} style=${{ "--h": hue(type) }}>${type}</span>`; }

// summary is what is shown of a resource at the end of its row.
function summary(r) {
  const p = r.props || {};
  const of = v => typeof v === "string" ? v.split("\n")[0] : v === undefined || v === null ? "" : typeof v === "object" ? "" : String(v);
  if (p.ensure && p.ensure !== "present") return of(p.ensure);
  return of(p.content ?? p.command ?? p.source ?? p.target ?? p.line ?? p.value ?? p.url ?? p.ensure ?? "").slice(0, 80);
}

const list = v => [].concat(v ?? []).filter(x => typeof x === "string");

// edgesOf returns [first, then, relation] of rows.
function edgesOf(rows, at) {
  const out = [];
  rows.forEach((r, i) => {
    for (const k of relations) for (const t of list(r.props?.[k])) {
      const other = byID.value.get(t), j = other ? at.get(other.key) : undefined;
      if (j !== undefined && j !== i) out.push(k === "before" || k === "notify" ? [i, j, k] : [j, i, k]);
    }
  });
  return out;
}

// move puts what is picked one place up or down.
export async function move(by) {
  const then = pickedThen();
  let ids, id;
  const done = await edit(() => {
    const rs = resources.value, keys = then.keys().filter(k => rs.some(r => r.key === k));
    if (!keys.length) return null;
    const first = rs.findIndex(r => r.key === keys[0]), last = rs.findIndex(r => r.key === keys.at(-1));
    if (by < 0 ? first === 0 : last === rs.length - 1) return say("already the " + (by < 0 ? "first" : "last"));
    ids = new Set(keys.map(k => rs.find(r => r.key === k).id));
    id = rs.find(r => r.key === selected.value)?.id;
    return { op: "move", resources: keys, at: by < 0 ? rs[first - 1].key : rs[last + 2]?.key };
  });
  if (done && then.same()) {
    follow(ids, id);
    const i = resources.value.findIndex(r => r.key === selected.value);
    say((i + 1) + " of " + resources.value.length);
  }
}

function follow(ids, id) {
  const now = resources.value.filter(r => ids.has(r.id));
  const one = now.find(r => r.id === id) ?? now[0];
  if (one) { selected.value = one.key; picked.value = new Set(now.map(r => r.key)); }
}

export async function remove() {
  const then = pickedThen();
  let n;
  if (await edit(() => { const keys = then.keys(); n = keys.length; return n ? { op: "remove", resources: keys } : null; })) say(n === 1 ? "removed" : "removed " + n);
}

export const double = () => { const keys = pickedInOrder(); if (keys.length) return edit({ op: "double", resources: keys }); };

export function List() {
  const box = useRef(), live = useRef(), cells = useRef(new Map()), [top, setTop] = useState(0), [high, setHigh] = useState(600), [over, setOver] = useState(-1), [wire, setWire] = useState(null);
  const q = filter.value.toLowerCase();
  const rows = resources.value.filter(r => (!q || r.id.toLowerCase().includes(q) || summary(r).toLowerCase().includes(q)) && (!wrongOnly.value || mistakesOf.value.has(r.key)));
  useEffect(() => { const stop = () => setOver(-1); document.addEventListener("dragend", stop); return () => document.removeEventListener("dragend", stop); }, []);
  useEffect(() => { const o = new ResizeObserver(() => box.current && setHigh(box.current.clientHeight)); o.observe(box.current); return () => o.disconnect(); }, []);
  const from = Math.max(0, Math.floor(top / ROW) - 6), to = Math.min(rows.length, Math.ceil((top + high) / ROW) + 6);
  const at = new Map(rows.map((r, i) => [r.key, i]));
  const sel = at.get(selected.value) ?? -1;
  const edges = edgesOf(rows, at).filter(([a, b]) => Math.max(a, b) >= from && Math.min(a, b) <= to);

  useLayoutEffect(() => { // the selected row is in sight
    if (sel < 0) return;
    const y = sel * ROW, el = box.current;
    if (y < el.scrollTop) el.scrollTop = y; else if (y + ROW > el.scrollTop + el.clientHeight) el.scrollTop = y + ROW - el.clientHeight;
  }, [selected.value, rows.length]);

  const go = (i, e) => { const r = rows[Math.max(0, Math.min(rows.length - 1, i))]; if (r) choose(r.key, { extend: e.shiftKey }); };
  const keys = e => {
    const page = Math.max(1, Math.floor(high / ROW) - 1), r = rows[sel], ctrl = e.ctrlKey || e.metaKey;
    if (e.altKey && (e.key === "ArrowDown" || e.key === "ArrowUp")) { if (r) move(e.key === "ArrowDown" ? 1 : -1); }
    else if (e.altKey) return;
    else if (ctrl && e.key === " ") { if (r) choose(r.key, { toggle: true }); }
    else if (ctrl && e.key.toLowerCase() === "a") picked.value = new Set(rows.map(x => x.key));
    else if (ctrl && e.key.toLowerCase() === "d") double();
    else if (ctrl) return;
    else if (e.key === "ArrowDown") go(sel + 1, e);
    else if (e.key === "ArrowUp") go(sel - 1, e);
    else if (e.key === "PageDown") go(sel + page, e);
    else if (e.key === "PageUp") go(sel - page, e);
    else if (e.key === "Home") go(0, e);
    else if (e.key === "End") go(rows.length - 1, e);
    else if (e.key === "Delete" || e.key === "Backspace") remove();
    else if (e.key.toLowerCase() === "r" && r) dialog.value = { kind: "link", from: r.key };
    else if (e.key === "Enter" && r) (document.querySelector(".form .wrong input, .form .wrong textarea") || document.querySelector(".form input, .form textarea"))?.focus();
    else return;
    e.preventDefault();
  };
  const readonly = r => r.form === "none" || r.file !== doc.value.file;
  // One row is drawn again if what it shows is another; where the handlers look things up is now.
  live.current = { rows, at };
  const row = i => {
    const r = rows[i], wrong = mistakesOf.value.get(r.key), out = outcomes.value[r.id];
    const now = r.key === selected.value, many = picked.value.has(r.key), opens = i > 0 && rows[i - 1].group !== r.group, aim = wire?.to === i;
    const shows = [r, i, rows.length, now, many, opens, aim, out, old.value, JSON.stringify(wrong)], drawn = cells.current.get(r.key);
    if (drawn?.shows.every((x, n) => x === shows[n])) return drawn.cell;
    const cell = html`<div key=${r.key} id=${"row-" + i} role="option" aria-selected=${many} aria-posinset=${i + 1} aria-setsize=${rows.length}
            class=${"row" + (now ? " now" : "") + (many ? " picked" : "") + (opens ? " opens" : "") + (r.skip ? " skipped" : "") + (aim ? " aim" : "")} style=${{ top: i * ROW + "px" }}
            draggable=${!readonly(r)} onDragStart=${e => { if (e.target.classList.contains("knob")) return e.preventDefault(); e.dataTransfer.setData("text/ccm-key", r.key); e.dataTransfer.effectAllowed = "move"; }} onDragEnd=${() => setOver(-1)}
            onClick=${e => choose(r.key, { extend: e.shiftKey, toggle: e.ctrlKey || e.metaKey })} onDblClick=${() => document.querySelector(".form input")?.focus()}>
            <span class="grip" aria-hidden="true">⠿</span>
            <span class="knob" aria-hidden="true" title="Drag onto another resource to add a dependency" onPointerDown=${e => draw(e, r)}></span>
            <${Badge} type=${r.type} /><span class="what">${r.name}</span>
            ${r.file !== doc.value.file ? html`<span class="tag">${r.file}</span>` : r.form === "none" ? html`<span class="tag" title=${r.why}>text only</span>` : null}
            ${r.results?.length > 1 ? html`<span class="tag">× ${r.results.length}</span>` : null}
            <span class="sum">${r.skip ? "skipped: " + r.skip : summary(r)}</span>
            ${wrong ? html`<span class=${"mark " + (wrong.some(m => m.severity !== "warning") ? "err" : "warn")} title=${wrong.map(m => m.message).join("\n")}>${wrong.some(m => m.severity !== "warning") ? "error" : "warning"}</span>`
              : out ? html`<span class=${"mark o " + out.outcome + (old.value ? " old" : "")} title=${(old.value ? "before the last edit: " : "") + out.story}>${wordOf(out)}</span>` : null}</div>`;
    cells.current.set(r.key, { shows, cell });
    return cell;
  };
  const rowAt = e => Math.floor((e.clientY - box.current.getBoundingClientRect().top + box.current.scrollTop) / ROW);
  const drop = e => {
    setOver(-1);
    e.preventDefault();
    const i = Math.min(Math.max(0, Math.round((e.clientY - box.current.getBoundingClientRect().top + box.current.scrollTop) / ROW)), rows.length);
    const target = rows[i]?.key ?? "", type = e.dataTransfer.getData("text/ccm-type"), key = e.dataTransfer.getData("text/ccm-key");
    if (type) { add(type, target); return; }
    if (!key) return;
    const moved = picked.value.has(key) ? pickedInOrder() : [key];
    if (moved.includes(target)) return;
    const then = pickedThen(), ids = new Set(moved.map(k => resources.value.find(r => r.key === k).id)), id = key && resources.value.find(r => r.key === key).id;
    edit({ op: "move", resources: moved, at: target || undefined }).then(ok => ok && then.same() && follow(ids, id));
  };
  // an arrow is drawn from the knob of a row to another row
  const draw = (e, r) => {
    e.preventDefault();
    e.stopPropagation();
    e.target.setPointerCapture(e.pointerId);
    const { rows, at } = live.current, i = at.get(r.key);
    const onMove = m => setWire({ from: i, to: Math.max(0, Math.min(rows.length - 1, rowAt(m))) });
    const onUp = m => {
      e.target.removeEventListener("pointermove", onMove);
      e.target.removeEventListener("pointerup", onUp);
      setWire(null);
      const j = rowAt(m), target = rows[j];
      if (target && target !== r) dialog.value = { kind: "link", from: r.key, to: target.key };
    };
    e.target.addEventListener("pointermove", onMove);
    e.target.addEventListener("pointerup", onUp);
  };
  const shown = [];
  for (let i = from; i < to; i++) shown.push(i);
  if (sel >= 0 && (sel < from || sel >= to)) shown.push(sel);
  if (cells.current.size > 400) cells.current.clear();
  const mistakes = doc.value.mistakes, errors = mistakes.filter(m => m.severity !== "warning").length;
  const failing = old.value ? [] : Object.values(outcomes.value).filter(e => e.outcome === "failed"), fails = failing.map(e => byID.value.get(e.type + "#" + e.name)).find(Boolean);
  const y = i => i * ROW + ROW / 2;
  const arc = (a, b) => { const w = Math.min(44, 10 + Math.abs(a - b) * 7); return `M50 ${y(a)} C${50 - w} ${y(a)} ${50 - w} ${y(b)} 50 ${y(b)}`; };
  return html`<section class="list" aria-label="Resources">
    <div class="bar"><input type="search" id="filter" placeholder="Filter resources" aria-label="Filter resources" value=${filter.value} onInput=${e => filter.value = e.target.value}
        onKeyDown=${e => { if (e.key === "ArrowDown" || e.key === "Enter") { box.current.focus(); e.preventDefault(); } if (e.key === "Escape") filter.value = ""; }} />
      ${wrongOnly.value ? html`<button class="chip on" onClick=${() => wrongOnly.value = false}>with problems ×</button>` : null}
      <span class="quiet">${rows.length === resources.value.length ? "" : rows.length + " of "}${resources.value.length} ${resources.value.length === 1 ? "resource" : "resources"}</span></div>
    <div class=${"rows" + (over >= 0 ? " dropping" : "")} ref=${box} role="listbox" aria-label="Resources" aria-multiselectable="true" tabindex="0" aria-activedescendant=${sel >= 0 ? "row-" + sel : undefined}
      onScroll=${e => setTop(e.currentTarget.scrollTop)} onKeyDown=${keys} onCopy=${e => copied(e, false)} onCut=${e => copied(e, true)}
      onDragOver=${e => { e.preventDefault(); const i = Math.round((e.clientY - box.current.getBoundingClientRect().top + box.current.scrollTop) / ROW); setOver(Math.max(0, Math.min(i, rows.length))); }} onDragLeave=${e => { if (e.target === box.current) setOver(-1); }} onDrop=${drop}>
      <div class="all" role="presentation" style=${{ height: rows.length * ROW + "px" }}>
        <svg class="edges" aria-hidden="true" width="54" height=${rows.length * ROW}>
          ${edges.map(([a, b, k]) => { const hot = a === sel || b === sel; return html`<path key=${a + "-" + b + k} class=${k + (hot ? " hot" : "")} d=${arc(a, b)} />${hot ? html`<path class="tip" d=${`M46 ${y(b) - 3.5}L52 ${y(b)}L46 ${y(b) + 3.5}z`} />` : null}`; })}
          ${wire && wire.from !== wire.to ? html`<path class="hot wire" d=${arc(wire.to, wire.from)} />` : null}
        </svg>
        ${over >= 0 ? html`<div class="drop" role="presentation" style=${{ top: over * ROW - 1 + "px" }}></div>` : null}
        ${shown.map(i => row(i))}
      </div>
      </div>
      ${!resources.value.length ? html`<${Empty} />` : rows.length ? null : html`<div class="empty"><p><b>Nothing matches.</b></p><p><button class="link" onClick=${() => { filter.value = ""; wrongOnly.value = false; }}>Show all ${resources.value.length}</button></p></div>`}
    <div class="foot"><span class="hints"><kbd>↑↓</kbd> select <kbd>Alt ↑↓</kbd> move <kbd>Enter</kbd> edit <kbd>R</kbd> dependency <kbd>Del</kbd> remove</span>
      <span role="status">${fails ? html`<button class="err" onClick=${() => { wrongOnly.value = false; choose(fails.key); }}>${failing.length === 1 ? "1 would fail" : failing.length + " would fail"}</button> ` : null}${mistakes.length ? html`<button class=${errors ? "err" : "warn"} onClick=${() => { wrongOnly.value = false; nextMistake(); }}>${errors ? errors + (errors === 1 ? " error" : " errors") : mistakes.length + (mistakes.length === 1 ? " warning" : " warnings")}</button>${elsewhere(mistakes)}` : doc.value.checked ? fails ? "" : html`<span class="good">No problems</span>` : session.value?.trusted ? "checking…" : "not checked: the folder is not trusted"}</span></div>
  </section>`;
}

// elsewhere tells of a mistake that no row shows.
function elsewhere(mistakes) {
  const m = mistakes.find(m => !m.resource);
  return m ? html`<span class="err first" title=${m.message}>: ${m.file && m.file !== doc.value.file ? m.file + ":" : m.line ? "line " : ""}${m.line || ""} ${m.message}</span>` : null;
}

let last = -1;
export function nextMistake() {
  const ms = doc.value.mistakes;
  if (!ms.length) return;
  last = (last + 1) % ms.length;
  const m = ms[last];
  if (m.resource) { choose(m.resource); requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(".form .wrong input, .form .wrong textarea, .form .wrong select")?.focus())); }
  else if (m.file && m.file !== doc.value.file) open(m.file);
  else import("/store.js").then(s => { if (s.panes.value === "none") s.panes.value = "both"; s.show(m.line); });
  say(m.message);
}

function Empty() {
  return html`<div class="empty"><p><b>No resources yet.</b></p>
    <p>Add what should be on the machine from the left: a <button class="link" onClick=${() => add("file")}>file</button>, a <button class="link" onClick=${() => add("package")}>package</button>, a <button class="link" onClick=${() => add("service")}>service</button>, or a <button class="link" onClick=${() => add("exec")}>command</button>.</p>
    <p>Or <button class="link" onClick=${() => dialog.value = { kind: "import" }}>import from this machine</button>.</p></div>`;
}
