// app.js begins: login, the first answers, and the frame of the page with its keys.
import { html, render, batch, useState, signal, effect } from "/vendor/ui.js";
import * as store from "/store.js";
import { session, doc, files, view, panes, online, needLogin, told, spoken, conflict, dialog, waiting, isSite, side, undo, redo, save, open, merge, tell, outcomes, resources, selected, types } from "/store.js";
import { call, get, listen } from "/api.js";
import { Palette } from "/palette.js";
import { List, nextMistake } from "/list.js";
import { Form } from "/form.js";
import { PlanView, start as plan, planned, running, pending, job } from "/plan.js";
import { GraphView } from "/graph.js";
import { Files } from "/files.js";
import { Facts, loadFacts } from "/facts.js";
import { Specs, tested } from "/specs.js";
import { History } from "/history.js";
import { Data } from "/data.js";
import { Conflict } from "/conflict.js";
import { Dialogs, newSite } from "/dialogs.js";
import { Trust, Login, Offline } from "/trust.js";
import { pasted } from "/clipboard.js";

const views = [["design", "Design"], ["plan", "Plan"], ["graph", "Graph"], ["facts", "Facts"], ["specs", "Specs"], ["history", "History"]];
const later = signal(false), ended = signal(false);

// The editors are the largest part of the page. They come when list and form have been painted.
const editors = signal(null);
const loadEditors = () => import("/text.js").then(m => { editors.value = m.Panes; });

// ---- light and dark ----
const theme = signal(localStorage.theme || "");
const dark = () => theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
effect(() => { if (theme.value) document.documentElement.dataset.theme = theme.value; });
function turn() { theme.value = dark() ? "light" : "dark"; localStorage.theme = theme.value; }

function Tabs({ label, tabs, value, onChoose }) {
  const keys = e => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    const i = (tabs.findIndex(t => t[0] === value) + by + tabs.length) % tabs.length;
    onChoose(tabs[i][0]);
    e.currentTarget.children[i].focus();
    e.preventDefault();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${keys}>${tabs.map(([k, w]) => html`<button key=${k} role="tab" aria-selected=${value === k} tabindex=${value === k ? 0 : -1} onClick=${() => onChoose(k)}>${w}</button>`)}</div>`;
}

function Top() {
  const d = doc.value, n = pending.value;
  const named = { yaml: "YAML", lua: "Lua" };
  return html`<header class="top"><h1><b>ccm</b> studio</h1>${session.value.root ? html`<span class="asroot" role="note" title="The site is evaluated as root, and files are saved as root">as root</span>` : null}
    ${d ? html`<button class="file" title="Files of the folder" onClick=${() => side.value = side.value === "files" ? "types" : "files"}>${d.file}${d.saved ? null : html`<i class="edited" title="not saved"></i><span class="sr">, not saved</span>`}</button>` : null}
    <${Tabs} label="Views" tabs=${views} value=${view.value} onChoose=${v => view.value = v} />
    <span class="space"></span>
    ${d ? html`<span class="pair"><button disabled=${!d.undo} onClick=${undo} title="Undo (Ctrl+Z)" aria-label="Undo">↶</button><button disabled=${!d.redo} onClick=${redo} title="Redo (Ctrl+Shift+Z)" aria-label="Redo">↷</button></span>
    ${view.value === "design" && isSite.value && d.derived ? html`<${PanePick} />` : null}` : null}
    <button onClick=${turn} aria-label="Light or dark" title="Light or dark">◐</button><button onClick=${() => dialog.value = { kind: "keys" }} aria-label="Keys" title="Keys (?)">?</button>
    ${d ? html`<button onClick=${() => save()} disabled=${d.saved && d.disk === "same"} title="Save (Ctrl+S)">Save</button>
    ${isSite.value ? html`<button class="main" disabled=${running.value} onClick=${() => { plan(); }} title="Show what a run would change (Ctrl+Enter)">${running.value ? "Planning…" : job.value && n && job.value.file === d.file ? "Plan: " + n + " to change" : "Plan"}</button>` : null}` : null}</header>`;
}

function PanePick() {
  const other = doc.value.language === "lua" ? "YAML" : "Lua", own = doc.value.language === "lua" ? "Lua" : "YAML";
  const options = [["none", "none"], ["source", own], ["derived", other], ["both", "both"]];
  return html`<label class="inline panepick"><span class="sr">Text</span><select aria-label="Which text is shown" value=${panes.value} onChange=${e => { panes.value = localStorage.panes = e.target.value; }}>${options.map(([v, w]) => html`<option key=${v} value=${v}>${v === "none" ? "no text" : v === "both" ? "both texts" : w}</option>`)}</select></label>`;
}

function Disk() {
  const d = doc.value;
  if (!d || d.disk === "same") return null;
  return html`<div class="strip" role="status">${d.disk === "gone" ? "The file was removed from disk." : "The file changed on disk."} <button class="mini" onClick=${() => save()}>${d.saved ? "Review" : "Review and save"}</button> ${d.saved && d.disk === "changed" ? html`<button class="mini" onClick=${() => save("theirs")}>Reload</button>` : null}</div>`;
}

function Middle() {
  const v = view.value;
  return html`<div class="middle" hidden=${v !== "design"}>${!doc.value ? html`<${Welcome} />` : isSite.value ? html`<${List} />` : doc.value.kind === "data" ? html`<${Data} />` : null}${editors.value ? html`<${editors.value} />` : html`<section class="panes" aria-label="Text"></section>`}</div>
    ${v === "plan" && doc.value ? html`<${PlanView} />` : v === "graph" && doc.value ? html`<${GraphView} />` : v === "facts" ? html`<${Facts} />` : v === "specs" ? html`<${Specs} />` : v === "history" ? html`<${History} />` : v !== "design" ? html`<${Welcome} />` : null}`;
}

function Welcome() {
  return html`<section class="page pad welcome" aria-label="Start"><h2>Describe a machine</h2><p>A site describes what should be on a machine: files, packages, services, accounts. Fill in forms; ccm studio writes the text.</p>
    <p><button class="main" onClick=${newSite}>New site</button></p><p class="quiet">${files.value.files.length ? "Or choose a file on the left, or " : "Or "}<button class="link" onClick=${() => dialog.value = { kind: "new" }}>create another kind of file</button>.</p></section>`;
}

function App() {
  if (ended.value && !session.value) return null;
  if (needLogin.value && !doc.value && !session.value) return html`<main class="gate"><div class="card"><h1>ccm studio</h1><p>Open the address that ccm studio printed. Each address works in one tab, for two minutes. Press Enter in the terminal for a new one.</p><${Login} then=${() => location.reload()} /></div></main>`;
  if (!session.value) return html`<main class="gate"><p class="quiet">…</p></main>`;
  if (!session.value.trusted && !later.value) return html`<${Trust} onLater=${() => later.value = true} />`;
  const site = doc.value && isSite.value, form = site && ["design", "plan", "graph"].includes(view.value);
  return html`<${Top} /><${Offline} /><${Disk} />
    ${!session.value.trusted ? html`<div class="strip" role="note">This folder is not trusted: nothing is evaluated. <button class="mini" onClick=${() => later.value = false}>Decide</button></div>` : null}
    <main class="frame" data-panes=${!site || panes.value !== "none" && !doc.value.derived ? "source" : panes.value} data-form=${!!form} data-view=${view.value} data-kind=${site ? "site" : !doc.value ? "none" : doc.value.kind === "data" ? "data" : "text"}>
      <nav class="side" aria-label="Types and files"><${Tabs} label="Types or files" tabs=${site ? [["types", "Types"], ["files", "Files"]] : [["files", "Files"]]} value=${site ? side.value : "files"} onChoose=${v => side.value = v} />${site && side.value === "types" ? html`<${Palette} />` : html`<${Files} />`}</nav>
      <${Middle} />${form ? html`<${Form} />` : null}</main>
    <${Told} /><div class="sr" role="status" aria-live="polite">${spoken.value}</div>
    ${conflict.value ? html`<${Conflict} />` : null}<${Dialogs} />`;
}

function Told() {
  const t = told.value;
  return html`<div class=${"toast" + (t ? " on " + (t.kind ?? "") : "")} role="alert">${t ? html`<span>${t.text}${t.hint ? html` <em>${t.hint}</em>` : null}</span>${t.action ? html`<button class="mini" onClick=${() => { t.action.run(); told.value = null; }}>${t.action.label}</button>` : null}<button class="off" aria-label="Close" onClick=${() => told.value = null}>×</button>` : null}</div>`;
}
effect(() => { const t = told.value; if (t && t.kind !== "err") setTimeout(() => { if (told.value === t) told.value = null; }, 5000); });

// ---- keys of the whole page ----
const parts = [".side input, .side [role=treeitem][tabindex='0']", ".rows", ".form input, .form textarea", ".pane.source .cm-content", ".pane.derived .cm-content", ".page .scroll, .page .canvas .node"];
function nextPart(back) {
  const els = parts.map(q => [...document.querySelectorAll(q)].find(e => e.offsetParent !== null || e.getClientRects().length)).filter(Boolean);
  const region = e => e.closest(".side, .list, .form, .pane, .page");
  const i = els.findIndex(p => region(p) === region(document.activeElement));
  els[(i + (back ? els.length - (i < 0 ? 0 : 1) : 1)) % els.length]?.focus();
}
const typing = e => /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName) && !/^(radio|checkbox|button)$/.test(e.type) || e.closest(".cm-editor");
document.addEventListener("keydown", e => {
  if (!session.value || dialog.value || conflict.value) return;
  const ctrl = e.ctrlKey || e.metaKey, key = e.key.toLowerCase(), el = document.activeElement ?? document.body;
  if (ctrl && key === "s") { el.blur?.(); el.focus?.(); save(); }
  else if (ctrl && e.key === "Enter" && el.tagName !== "TEXTAREA") { if (isSite.value) plan(); }
  else if (ctrl && (key === "z" || key === "y") && !typing(el)) (e.shiftKey || key === "y" ? redo : undo)();
  else if (e.key === "F6") nextPart(e.shiftKey);
  else if (e.key === "F8") nextMistake();
  else if (!ctrl && !e.altKey && !typing(el) && e.key === "/") { view.value = "design"; requestAnimationFrame(() => document.getElementById("filter")?.focus()); }
  else if (!ctrl && !e.altKey && !typing(el) && e.key === "?") dialog.value = { kind: "keys" };
  else if (!ctrl && !e.altKey && !typing(el) && /^[1-6]$/.test(e.key)) view.value = views[e.key - 1][0];
  else return;
  e.preventDefault();
});
document.addEventListener("paste", e => { const el = document.activeElement; if (isSite.value && view.value === "design" && (el === document.body || el.closest(".list")) && !typing(el) && !dialog.value) pasted(e); });
window.addEventListener("beforeunload", e => { if (waiting.value && !online.value) e.preventDefault(); });

// The address of a studio that was started again differs in its fragment alone.
window.addEventListener("hashchange", async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", "/");
  try { await call("/login", { token }); if (!doc.value) location.reload(); needLogin.value = false; } catch (e) { tell(e.message, { hint: e.hint, kind: "err" }); }
});

// ---- begin ----
const painted = () => new Promise(r => requestAnimationFrame(() => setTimeout(r)));
async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", "/");
    try { await call("/login", { token }); } catch (e) { if (e.code !== "login") throw e; }
  }
  render(html`<${App} />`, document.getElementById("app"));
  try { session.value = await get("/api/session"); } catch (e) { if (e.code === "login") { needLogin.value = true; return; } throw e; }
  let first = session.value.file || sessionStorage.file;
  await Promise.all([store.loadTypes(), store.loadFiles(), first && open(first)]);
  let lost = false;
  listen(store.client, (name, data) => {
    if (name === "hello") { session.value = { ...data }; }
    else if (name === "state") merge(data);
    else if (name === "disk") { if (doc.value?.file === data.file) doc.value = { ...doc.value, disk: data.disk }; }
    else if (name === "files") store.loadFiles();
    else if (name === "plan" || name === "plan-end") planned(name, data);
    else if (name === "test-end") tested(data);
    else if (name === "trust") session.value = data;
    else if (name === "bye") ended.value = true;
  }, async up => {
    if (!up) {
      lost = true;
      try { await get("/api/session"); } catch (e) { online.value = false; needLogin.value = e.code === "login"; }
      return;
    }
    batch(() => { online.value = true; needLogin.value = false; ended.value = false; });
    if (lost && doc.value) { lost = false; store.refetch(); store.loadTypes(); store.loadFiles(); }
  });
  if (!first && (first = files.value.files.find(f => f.kind === "manifest" || f.kind === "script")?.name)) await open(first);
  if (!first) side.value = "files";
  window.studio.ready = performance.now();
  await painted();
  await loadEditors();
  loadFacts("").catch(() => {});
}
window.studio = { store, plan, timings: store.timings };
begin().catch(e => { document.getElementById("app").textContent = "ccm studio cannot start: " + e.message; });
