// text.js is the two text editors: the file as it is, and the same in the other language. The
// text of the server is the truth. What is typed goes there as splices after a moment; splices of
// others are mapped through what is not sent yet.
import * as cm from "/vendor/cm.js";
import { html, effect, useEffect, useLayoutEffect, useRef, useState } from "/vendor/ui.js";
import { doc, panes, resources, current, selected, choose, reveal, difference, spliced, serverText, attach, type as send, typeNow, typeDerived, keep, undo, redo, isSite } from "/store.js";
import { completions } from "/complete.js";

const PAUSE = 120, BURST = 900; // milliseconds without a key until it is sent; within which steps of undo are joined
const ours = cm.Annotation.define();
const nonce = document.querySelector("meta[name=nonce]").content;

const marks = cm.HighlightStyle.define([
  { tag: cm.tags.comment, color: "var(--c-comment)", fontStyle: "italic" },
  { tag: cm.tags.string, color: "var(--c-string)" },
  { tag: [cm.tags.number, cm.tags.bool, cm.tags.atom], color: "var(--c-number)" },
  { tag: [cm.tags.keyword, cm.tags.meta], color: "var(--c-keyword)" },
  { tag: [cm.tags.propertyName, cm.tags.definition(cm.tags.variableName), cm.tags.standard(cm.tags.variableName)], color: "var(--c-key)" },
]);

const modes = { lua: cm.lua, yaml: cm.yaml, json: cm.yaml, toml: cm.toml };
function modeOf(language, file) {
  const m = modes[language] ?? (/\.(sh|bash)$|rc$/.test(file) ? cm.shell : /nginx|\.tmpl$/.test(file) ? cm.nginx : /\.(ini|conf|cfg|service|timer|properties)$/.test(file) ? cm.properties : null);
  return m ? cm.StreamLanguage.define(m) : [];
}

// The lines of an editor end with LF alone. plain returns a text so; raw finds the place in
// the text as it is.
const plain = s => s.includes("\r") ? s.replace(/\r\n?/g, "\n") : s;
function raw(s, at) {
  if (!s.includes("\r")) return at;
  let i = 0;
  for (let n = 0; n < at; n++) i += s[i] === "\r" && s[i + 1] === "\n" ? 2 : 1;
  return i;
}

const common = label => [
  cm.EditorView.cspNonce.of(nonce), cm.lineNumbers(), cm.drawSelection(), cm.bracketMatching(), cm.syntaxHighlighting(marks),
  cm.indentUnit.of("  "), cm.search({ top: true }), cm.highlightSelectionMatches(), cm.EditorView.lineWrapping, cm.highlightActiveLine(), cm.highlightActiveLineGutter(),
  cm.EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
  cm.Prec.high(cm.keymap.of([{ key: "Mod-z", run: () => { undo(); return true; } }, { key: "Mod-Shift-z", run: () => { redo(); return true; } }, { key: "Mod-y", run: () => { redo(); return true; } }, { key: "Mod-Enter", run: () => false }])),
  cm.keymap.of([...cm.searchKeymap, ...cm.completionKeymap, ...cm.lintKeymap, ...cm.defaultKeymap.filter(k => k.key !== "Mod-Enter" && k.key !== "Alt-ArrowUp" && k.key !== "Alt-ArrowDown")]),
];

// A pane is one editor. sent(text, joined) brings what was typed to the server.
function pane(parent, label, sent, extra) {
  const language = new cm.Compartment(), locked = new cm.Compartment();
  let timer = 0, last = 0;
  const it = { typing: false };
  const listener = cm.EditorView.updateListener.of(u => {
    if (u.docChanged && !u.transactions.some(t => t.annotation(ours))) {
      it.typing = true;
      clearTimeout(timer);
      timer = setTimeout(it.flush, PAUSE);
      keep();
    } else if (u.selectionSet && u.view.hasFocus && !u.docChanged) it.moved?.(u.state.doc.lineAt(u.state.selection.main.head));
  });
  const view = new cm.EditorView({ parent, state: null, extensions: [common(label), language.of([]), locked.of([]), listener, extra ?? []] });
  it.view = view;
  it.flush = () => {
    clearTimeout(timer);
    if (!it.typing) return;
    if (view.composing) { timer = setTimeout(it.flush, PAUSE); return; } // half of a character is nothing yet
    it.typing = false;
    const now = Date.now(), joined = now - last < BURST;
    last = now;
    sent(view.state.doc.toString(), joined);
  };
  it.stop = () => { clearTimeout(timer); it.typing = false; };
  it.change = s => { if (s) view.dispatch({ changes: { from: s.from, to: s.to, insert: s.text }, annotations: ours.of(true) }); };
  // shown is the text of the server that the editor has; set shows another one, follow keeps what was
  // typed since.
  let shown = "";
  it.set = text => { it.change(difference(view.state.doc.toString(), text)); shown = text; };
  it.follow = text => {
    if (text === shown) return;
    const local = difference(shown, view.state.doc.toString()), remote = set(difference(shown, text), shown);
    view.dispatch({ changes: local ? remote.map(set(local, shown), true) : remote, annotations: ours.of(true) });
    shown = text;
  };
  it.open = (text, lang) => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, effects: language.reconfigure(modeOf(lang, doc.value?.file ?? "")), annotations: ours.of(true) });
  };
  // What is so already is not done again: the editor would read its whole text once more.
  let speaks, isLocked, marked = "[]";
  it.language = lang => { if (lang !== speaks) view.dispatch({ effects: language.reconfigure(modeOf(speaks = lang, "")) }); };
  it.lock = on => { if (on !== isLocked) view.dispatch({ effects: locked.reconfigure((isLocked = on) ? [cm.EditorState.readOnly.of(true)] : []) }); };
  it.line = n => {
    if (n < 1 || n > view.state.doc.lines) return;
    const at = view.state.doc.line(n).from;
    view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: "center" }) });
  };
  it.mistakes = list => {
    const now = JSON.stringify(list);
    if (now === marked && now === "[]") return;
    marked = now;
    mark(list);
  };
  const mark = list => view.dispatch(cm.setDiagnostics(view.state, list.filter(m => m.line > 0 && m.line <= view.state.doc.lines).map(m => {
    const l = view.state.doc.line(m.line), from = Math.min(l.to, l.from + Math.max(0, m.col - 1));
    return { from, to: Math.min(l.to, m.len ? from + m.len : l.to), severity: m.severity === "warning" ? "warning" : "error", message: m.message + (m.hint ? "\n" + m.hint : "") };
  })));
  return it;
}

let source, derived;

// typed is the text of the file as it would be with what was typed.
function typed() {
  const text = source.view.state.doc.toString(), is = serverText();
  const s = difference(plain(is), text);
  if (!s) return is;
  return spliced(is, [{ from: raw(is, s.from), to: raw(is, s.to), text: is.includes("\r\n") ? s.text.replace(/\n/g, "\r\n") : s.text }]);
}

const set = (s, text) => cm.ChangeSet.of(s ? { from: s.from, to: s.to, insert: s.text } : [], text.length);

function makeSource(parent) {
  source = pane(parent, "Text of the file", (_, joined) => send(typed(), joined), [cm.lintGutter(), cm.autocompletion({ override: [completions], icons: false })]);
  source.moved = line => {
    let at = "";
    for (const r of resources.value) if (r.file === doc.value.file && r.line <= line.number) at = r.key;
    if (at && at !== selected.value) choose(at);
  };
  attach({
    text: typed,
    open: (text, language) => { source.stop(); source.open(plain(text), language); },
    // map shows a splice of the server, which counts in the text before it.
    map: (s, before) => {
      const was = plain(before), becomes = plain(spliced(before, [s])), local = difference(was, source.view.state.doc.toString());
      const remote = set(difference(was, becomes), was);
      source.view.dispatch({ changes: local ? remote.map(set(local, was), true) : remote, annotations: ours.of(true) });
    },
    // rebase types again what an earlier page could not send.
    rebase: (base, s) => {
      const was = plain(base), mine = plain(spliced(base, [s])), is = plain(serverText());
      if (mine === is) return;
      const local = set(difference(was, mine), was), remote = set(difference(was, is), was);
      source.view.dispatch({ changes: local.map(remote) });
    },
    flush: () => { if (difference(plain(serverText()), source.view.state.doc.toString())) { source.typing = true; source.flush(); } },
    flushNow: async () => { if (source.typing && !source.view.composing) { source.stop(); await typeNow(typed()); } },
    typing: () => source.typing || derived.typing,
  });
}

function makeDerived(parent) {
  derived = pane(parent, "The same in the other language", async (_, joined) => {
    followNow(true);
    const text = derived.view.state.doc.toString();
    const { marked, why } = await typeDerived(text, joined);
    note.refused = marked.length || why ? { marked, why } : null;
    derived.mistakes((marked ?? []).map(line => ({ line, col: 1, len: 0, message: why || "without a counterpart" })));
    note.tell?.();
  });
}
const note = { refused: null, tell: null };

// follow shows the derived text when what was edited has been painted and nothing else waits: a person
// looks there second.
const whenIdle = window.requestIdleCallback ? f => requestIdleCallback(f, { timeout: 300 }) : f => setTimeout(f, 30);
let following = 0;
function follow() {
  const turn = ++following;
  whenIdle(() => { if (turn === following) followNow(); });
}
function followNow(typed = derived.typing) {
  const x = doc.value?.derived;
  if (!x || note.refused) return;
  derived.language(x.language);
  if (typed) derived.follow(x.text); else derived.set(x.text);
}

// Panes shows the editors.
export function Panes() {
  const s = useRef(), d = useRef(), [, again] = useState(0);
  note.tell = () => again(n => n + 1);
  useLayoutEffect(() => {
    makeSource(s.current);
    makeDerived(d.current);
    const stops = [
      effect(() => { const list = doc.value?.mistakes ?? []; const file = doc.value?.file; source.mistakes(list.filter(m => !m.file || m.file === file)); }),
      effect(() => { derived.lock(!doc.value?.derived?.editable); follow(); }),
      effect(() => { const r = reveal.value; if (r.line) { source.line(r.line); source.view.focus(); } }),
    ];
    return () => stops.forEach(f => f());
  }, []);
  const r = current.value;
  useEffect(() => {
    if (!r) return;
    if (!source.view.hasFocus && r.file === doc.value.file) source.line(r.line);
    if (!derived.view.hasFocus) {
      const text = derived.view.state.doc.toString(), name = JSON.stringify(r.name);
      let at = text.indexOf(name);
      if (at < 0) at = text.search(new RegExp("- [\"']?" + r.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
      if (at >= 0) derived.line(derived.view.state.doc.lineAt(at).number);
    }
  }, [r?.key, doc.value?.file]);
  const value = doc.value, x = value?.derived;
  const named = { yaml: "YAML", lua: "Lua", json: "JSON", toml: "TOML" };
  return html`<section class="panes" aria-label="Text">
    <div class="pane source"><h2>${named[value?.language] ?? "Text"} <small>${value?.file}</small></h2><div ref=${s}></div></div>
    <div class=${"pane derived" + (x && !x.current && !note.refused ? " stale" : "")} hidden=${!isSite.value || !x}>
      <h2>${named[x?.language] ?? (value?.language === "lua" ? "YAML" : "Lua")} <small class=${note.refused ? "err" : ""} title=${x?.why ?? ""}>${note.refused ? note.refused.why || "marked lines are without a counterpart: these changes are not saved" : !x || (x.why && !x.text) ? x?.why || "" : !x.current ? x.why || "from before the error" : x.why ? x.why : "generated from the " + (named[value.language] ?? "text")}</small>
      ${note.refused ? html`<button class="mini" onClick=${() => { note.refused = null; derived.stop(); derived.mistakes([]); if (doc.value.derived) derived.set(doc.value.derived.text); again(n => n + 1); }}>Revert</button>` : null}</h2><div ref=${d}></div></div>
  </section>`;
}

export const focusSource = () => source?.view.focus();
export const completing = () => source && cm.completionStatus(source.view.state) !== null;
