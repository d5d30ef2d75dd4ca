// store.js is what the page knows. The text of each file on the server is the only truth: what
// is here are views of its last answer. One request at a time changes a file; each names the
// revision that it saw.
import { signal, computed, batch } from "/vendor/ui.js";
import { call, get, Failed } from "/api.js";
import { released } from "/pointer.js";
import { ask, answered, renamed, withAsked, left } from "/asked.js";

export const session = signal(null);       // Session
export const types = signal({ $defs: {}, groups: [], mistakes: [] });
export const files = signal({ directory: "", files: [] });
export const doc = signal(null);           // the State of the open file, without its text
export const selected = signal("");        // a key
export const picked = signal(new Set());   // keys, the selected one among them
export const epoch = signal(0);           // another resource was chosen: fields begin anew
export const naming = signal("");         // the key of what was just added: its name is to be typed
export const filter = signal("");
export const view = signal("design");      // design, plan, graph, facts, specs, history
export const side = signal("types");       // or files
export const panes = signal(localStorage.panes || "both"); // none, source, derived, both
export const online = signal(true);
export const needLogin = signal(false);
export const waiting = signal(0);          // requests that are not answered
export const queued = signal(0);           // things that were asked for and are not done
export const told = signal(null);          // {text, hint, kind, action}
export const spoken = signal("");          // for screen readers
export const conflict = signal(null);      // {conflict, file}
export const dialog = signal(null);        // {kind, ...}: keys, new, import, command, shape
export const outcomes = signal({});        // of the last plan, by ID: the event
export const reveal = signal({ line: 0, n: 0 }); // a line of the source to show

export const resources = computed(() => doc.value?.resources ?? []);
export const current = computed(() => withAsked(resources.value.find(r => r.key === selected.value) || null));
export const mistakesOf = computed(() => {
  const by = new Map();
  for (const m of doc.value?.mistakes ?? []) {
    if (!m.resource) continue;
    if (!by.has(m.resource)) by.set(m.resource, []);
    by.get(m.resource).push(m);
  }
  return by;
});
export const byID = computed(() => { const m = new Map(); for (const r of resources.value) { m.set(r.id, r); if (r.props?.alias) m.set(r.type + "#" + r.props.alias, r); } return m; });
export const isSite = computed(() => ["manifest", "script", "module"].includes(doc.value?.kind) && ["yaml", "lua"].includes(doc.value?.language));

export const tell = (text, more = {}) => { told.value = { text, ...more, at: Date.now() }; };
export const say = text => { spoken.value = spoken.value === text ? text + "\u00a0" : text; };
export const show = line => { if (line) reveal.value = { line, n: reveal.value.n + 1 }; };

// ---- the text of the open file ----

// server is the text of the server at doc.rev; the editor shows it with what was typed since.
let server = "";
let editor = null;   // what text.js attaches
export const serverText = () => server;
export const typing = () => !!editor?.typing(); // something is typed there that is not asked for yet
export const attach = e => { editor = e; if (doc.value) { e.open(server, doc.value.language); restoreText(); } };

// spliced returns a text after splices. All count in the text as it is, in order, and none
// overlaps another.
export const spliced = (text, splices) => splices.reduceRight((t, s) => t.slice(0, s.from) + s.text + t.slice(s.to), text);

// client is how this page is named in its requests, so that it knows its own edits among events.
export const client = crypto.randomUUID();

// difference returns the one splice that leads from a text to another, or null.
export function difference(a, b) {
  if (a === b) return null;
  let from = 0, end = 0;
  const most = Math.min(a.length, b.length);
  while (from < most && a.charCodeAt(from) === b.charCodeAt(from)) from++;
  while (end < most - from && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++;
  if (from > 0 && /[\ud800-\udbff]/.test(a[from - 1])) from--; // not within a pair
  if (end > 0 && /[\udc00-\udfff]/.test(a[a.length - end])) end--;
  return { from, to: a.length - end, text: b.slice(from, b.length - end) };
}

// resourcesOf are the resources of a state; a delta says how they differ from the old ones. What did
// not change stays the same object.
function resourcesOf({ resources, delta }, old) {
  if (resources || !delta) return resources ?? old;
  const by = new Map(old.map(r => [r.key, r]));
  for (const r of delta.changed ?? []) by.set(r.key, r);
  return (delta.keys ?? old.map(r => r.key)).map((key, i) => {
    const r = by.get(key), line = delta.lines?.[i] ?? r.line, group = delta.groups?.[i] ?? r.group;
    return r.line === line && r.group === group ? r : { ...r, line, group };
  });
}

// take makes an answer of the server what the page shows. typed: the text that the server has
// now is known, as it was sent.
// then is done with it in one painting.
export function take(state, { typed, op, was = {}, then } = {}) {
  const old = doc.value, same = old && old.file === state.file;
  let text = server;
  if (state.text !== undefined) text = state.text;
  else if (state.splices?.length) text = spliced(server, state.splices);
  else if (typed !== undefined) text = typed;
  const before = server, moved = difference(server, text);
  const echo = typed !== undefined && text === typed && op !== "merge";
  server = text;
  const next = { ...state, resources: resourcesOf(state, same ? old.resources : []) };
  if (next.derived?.splices) next.derived = { ...next.derived, text: spliced(old.derived.text, next.derived.splices) };
  delete next.delta;
  delete next.text;
  delete next.splices;
  if (next.derived === undefined && same && !state.checked) next.derived = old.derived && { ...old.derived, current: false };
  batch(() => {
    doc.value = next;
    then?.();
    if (op === "rename" && next.selected) { renamed(next.file, was.resource, next.selected); renames.set(was.resource, next.selected); }
    if (!same) { selected.value = next.selected || next.resources?.[0]?.key || ""; picked.value = new Set(selected.value ? [selected.value] : []); outcomes.value = {}; }
    else if (op === "rename" && was.resource === selected.value) select(next.selected, { stay: true });
    else if (next.selected && was.turn === turn && op !== "set" && op !== "unset" && next.resources.some(r => r.key === next.selected)) { select(next.selected); if (op === "add") naming.value = next.selected; }
    else if (selected.value && !next.resources.some(r => r.key === selected.value)) reselect(old.resources, next.resources);
  });
  if (!same) editor?.open(server, next.language);
  else if (moved && !echo) editor?.map(moved, before);
  if (same) keep();
}

// wordsOf is the message of a mistake, without the resource where that is told beside it.
export function wordsOf(m, r) {
  const id = (r?.id ?? "") + ": ";
  return r && m.message.startsWith(id) ? m.message.slice(id.length) : m.message;
}

// byKey finds a resource by a key, which may be that before its last rename.
export const byKey = key => resources.value.find(r => r.key === key) ?? resources.value.find(r => r.key === renames.get(key));
const renames = new Map();

// reselect finds what to select when the key is gone: what has its place now.
function reselect(old, now) {
  const at = old.findIndex(r => r.key === selected.value);
  select((now[Math.min(Math.max(at, 0), now.length - 1)] ?? { key: "" }).key);
}

// choose selects a resource because a person wants it. An answer that comes after that leaves it
// selected: turn counts.
export function choose(key, how) { turn++; select(key, how); }
let turn = 0;

function select(key, { extend = false, toggle = false, stay = false } = {}) {
  const all = resources.value;
  batch(() => {
    if (key !== selected.value && !stay) epoch.value++;
    if (extend && selected.value) {
      const a = all.findIndex(r => r.key === anchor), b = all.findIndex(r => r.key === key);
      picked.value = new Set(all.slice(Math.min(a, b), Math.max(a, b) + 1).map(r => r.key));
    } else if (toggle) {
      const many = new Set(picked.value);
      if (many.has(key) && many.size > 1) many.delete(key); else many.add(key);
      picked.value = many;
      anchor = key;
    } else {
      picked.value = new Set(key ? [key] : []);
      anchor = key;
    }
    selected.value = key;
  });
}
let anchor = "";
export const pickedInOrder = () => resources.value.filter(r => picked.value.has(r.key)).map(r => r.key);

// pickedThen is for edits that have their turn later. keys are the picked ones of then, if only
// edits have changed them and no person has (same); else those of now.
export function pickedThen() {
  const before = turn, keys = pickedInOrder(), same = () => before === turn;
  return { same, keys: () => same() ? pickedInOrder() : keys };
}

// ---- changing it ----

let chain = Promise.resolve();
const sleep = ms => new Promise(r => setTimeout(r, ms));

// once runs work after all that was asked for before it.
function once(work) {
  queued.value++;
  const p = chain.then(work);
  chain = p.catch(() => {}).then(() => { queued.value--; });
  return p;
}

// settled resolves when all that was typed and asked for is done.
export const settled = () => once(() => editor?.flushNow());

// send posts a change and takes the answer. When nobody answers, it waits until somebody does:
// what was asked for is kept. typed is the whole text that a text edit leads to.
async function send(path, body, { typed, op = body.op, asked = turn, then } = {}) {
  const was = { turn: asked, resource: body.resource };
  waiting.value++;
  const began = performance.now();
  let lost = false;
  try {
    for (let tries = 0; ; tries++) {
      try {
        if (lost) { // was it done before the connection went?
          const now = await get("/api/state", { file: body.file });
          const undone = now.text === server;
          await released();
          take(now);
          lost = false;
          if (!undone && typed === undefined) return { state: now, unsure: true };
          if (typed !== undefined) { editor?.flush(); return { state: now }; }
        }
        const state = await call(path, path === "/api/new" ? body : { ...body, rev: doc.value.rev, have: doc.value.serial, client });
        const answered = performance.now();
        await released();
        if (state) take(state, { typed, op, was, then });
        if (timings.length > 1000) timings.shift();
        timings.push({ path, op: body.op, answer: answered - began, taken: performance.now() - began, server: state?.timing });
        return { state };
      } catch (e) {
        if (!(e instanceof Failed)) throw e;
        if (e.code === "offline" || e.code === "login") {
          online.value = false;
          needLogin.value = e.code === "login";
          lost = true;
          await sleep(Math.min(2000, 200 * 2 ** tries));
          continue;
        }
        if (e.code === "stale" && e.body.state && tries < 3) {
          await released();
          take(e.body.state);
          if (typed !== undefined) { editor?.flush(); return { state: e.body.state }; }
          continue;
        }
        throw e;
      }
    }
  } finally {
    waiting.value--;
  }
}
export const timings = [];

function complain(e) {
  if (!(e instanceof Failed)) { tell(String(e.message || e), { kind: "err" }); throw e; }
  const line = e.body.line;
  if (e.code === "shape" || e.code === "shared") tell(e.message, { hint: e.hint, kind: "err", action: line ? { label: "Show in the text", run: () => { if (panes.value === "none") panes.value = "both"; show(line); } } : null });
  else tell(e.message, { hint: e.hint, kind: "err" });
}

// edit asks for an operation, and returns whether it was done. A function makes the operation when
// all before it is done, or none.
export function edit(op) {
  const asked = turn, file = doc.value.file, late = typeof op === "function";
  let it = late ? null : ask({ file, ...op }, server);
  return once(async () => {
    await editor?.flushNow();
    if (late && (op = op())) it = ask({ file, ...op }, server);
    if (!it) return false;
    try {
      if (it.file !== doc.value.file) return await editOther(it);
      const done = () => { if (told.value?.kind === "err") told.value = null; answered(it, server); it = null; };
      const { unsure } = await send("/api/edit", it, { asked, then: done });
      if (unsure) tell("ccm studio was unavailable. Its current state is shown: check that your last change is included.", { kind: "warn" });
      return true;
    } catch (e) { complain(e); return false; }
    finally { if (it) answered(it, server); }
  });
}

// editOther makes an edit of a file that is not shown any more, as another was opened meanwhile.
async function editOther(it) {
  const { rev } = await get("/api/state", { file: it.file });
  await call("/api/edit", { ...it, rev, client });
  return true;
}

// type sends what was typed into the source.
export function type(text, joined) {
  return once(async () => {
    const s = difference(server, text);
    if (!s) return true;
    try {
      await send("/api/text", { file: doc.value.file, splices: [s], joined }, { typed: text });
      return true;
    } catch (e) { complain(e); return false; }
  });
}

// typeNow is type within a turn of the queue.
export async function typeNow(text) {
  const s = difference(server, text);
  if (s) await send("/api/text", { file: doc.value.file, splices: [s] }, { typed: text }).catch(complain);
}

// typeDerived sends what was typed into the other language. It returns the lines that have no
// counterpart.
export function typeDerived(text, joined) {
  return once(async () => {
    await editor?.flushNow();
    try {
      await send("/api/text", { file: doc.value.file, text, derived: true, joined });
      return { marked: [] };
    } catch (e) {
      if (e.code === "convert" || e.status === 422) return { marked: e.body.marked ?? [], why: e.message, hint: e.hint, code: e.code };
      complain(e);
      return { marked: [] };
    }
  });
}

export function step(which) {
  return once(async () => {
    await editor?.flushNow();
    try { await send("/api/" + which, { file: doc.value.file }); say(which === "undo" ? "undone" : "redone"); }
    catch (e) { if (e.code === "nothing") say("nothing to " + which); else complain(e); }
  });
}
export const undo = () => step("undo");
export const redo = () => step("redo");

// save writes the file. If it was changed by somebody else, the three texts are shown.
export function save(how, theirs) {
  return once(async () => {
    await editor?.flushNow();
    try {
      await send("/api/save", { file: doc.value.file, onConflict: how, theirs });
      conflict.value = null;
      say("saved");
      tell(how === "theirs" ? "Loaded the version on disk. Undo restores yours." : "Saved " + doc.value.file, { kind: "good" });
      loadFiles();
      return true;
    } catch (e) {
      if (e.body?.conflict) { conflict.value = { ...e.body.conflict, file: doc.value.file }; return false; }
      complain(e);
      return false;
    }
  });
}

// post is for requests that answer with a State of the open file or of another.
export function post(path, body) {
  return once(async () => {
    await editor?.flushNow();
    try { const { state } = await send(path, body); return state; } catch (e) { complain(e); return null; }
  });
}

// resend saves a merged text: it becomes the text, and is written over what is on the disk.
export async function saveMerged(text, digest) {
  await once(async () => {
    try { await send("/api/text", { file: doc.value.file, text }, { typed: text, op: "merge" }); } catch (e) { complain(e); }
  });
  return save("mine", digest);
}

// ---- opening ----

export function open(file) {
  return once(async () => {
    await editor?.flushNow();
    try {
      const state = await get("/api/state", { file });
      take(state);
      view.value = "design";
      if (editor) restoreText();
      for (const op of left(file, server)) edit(op);
      document.title = state.file + " · ccm studio";
      history.replaceState(null, "", "/");
      sessionStorage.file = file;
    } catch (e) { complain(e); }
  });
}
// refetch brings the file up to date after the connection was gone.
export function refetch() {
  return once(async () => { try { const now = await get("/api/state", { file: doc.value.file }); await released(); take(now); editor?.flush(); } catch (e) { complain(e); } });
}
export const loadTypes = async () => { try { types.value = await get("/api/types"); } catch (e) { complain(e); } };
export const loadFiles = async () => { try { files.value = await get("/api/files"); } catch (e) { complain(e); } };

// merge takes what the server tells by itself.
export function merge(state) {
  return once(async () => {
    await released();
    const d = doc.value;
    if (!d || state.file !== d.file || state.rev < d.rev || state.client === client && state.rev === d.rev && state.checked === d.checked) return;
    if (state.rev === d.rev || state.text !== undefined && state.text !== null) {
      if (state.rev === d.rev) { delete state.text; delete state.splices; }
      take(state);
    } else if (state.splices && state.base === d.rev) take(state);
    else { try { take(await get("/api/state", { file: d.file })); } catch { } }
  });
}

// ---- what is not sent yet survives the page ----

const unsent = () => "unsent:" + doc.value.file;
function put(key, value) { try { if (value === null) sessionStorage.removeItem(key); else sessionStorage[key] = JSON.stringify(value); } catch { } }

// keep remembers what was typed and not sent.
export function keep() {
  if (!doc.value || !editor) return;
  const s = difference(server, editor.text());
  put(unsent(), s ? { base: server, splice: s } : null);
}

// restoreText brings back what was typed into an earlier page of this tab and not sent.
function restoreText() {
  try {
    const kept = JSON.parse(sessionStorage[unsent()] || "null");
    if (kept) editor?.rebase(kept.base, kept.splice);
  } catch { }
}
// What is typed into a field is applied before the page goes.
addEventListener("pagehide", () => document.activeElement?.blur?.());
