// dialogs.js are what is asked in front of the page. Each holds the focus until it is closed,
// and gives it back.
import { html, useEffect, useLayoutEffect, useRef, useState } from "/vendor/ui.js";
import { dialog, doc, resources, save, session, byID, byKey, edit, post, tell, types, selected, files, say, open, take, loadFiles, view, side } from "/store.js";
import { call, get } from "/api.js";
import { withAsked } from "/asked.js";
import { Combo, idsLike, Pills } from "/fields.js";
import { Badge } from "/list.js";

export function Dialog({ title, children, onClose, wide }) {
  const el = useRef();
  useLayoutEffect(() => {
    const before = document.activeElement;
    el.current.showModal();
    el.current.querySelector("[autofocus], input:not([type=hidden]), select, textarea, .main")?.focus();
    return () => { if (before?.isConnected) before.focus(); };
  }, []);
  return html`<dialog ref=${el} class=${wide ? "wide" : ""} aria-label=${title} onCancel=${e => { e.preventDefault(); onClose(); }} onKeyDown=${e => { if (e.key === "Escape" && !e.defaultPrevented) { e.preventDefault(); onClose(); } e.stopPropagation(); }}>
    <header><h2>${title}</h2><button class="off" aria-label="Close" onClick=${onClose}>×</button></header>${children}</dialog>`;
}
const close = () => dialog.value = null;

const keyTable = [
  ["F6, Shift F6", "next or previous part: palette, list, form, text"],
  ["↑ ↓ PgUp PgDn Home End", "select in list and palette; with Shift several, Ctrl Space adds one"],
  ["Alt ↑, Alt ↓", "move the selection"],
  ["Enter, Esc", "from the row into its form, and back; Esc in a field first discards the input"],
  ["Enter in a field", "apply (Ctrl Enter in long text); leaving the field does too"],
  ["R", "draw an arrow to another resource: order and refresh"],
  ["Del, Ctrl C X V D", "remove, copy, cut, paste, double"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo: shared by form, list and text"],
  ["Ctrl S", "save"],
  ["Ctrl Enter", "plan"],
  ["/", "filter the list"],
  ["F8", "next problem"],
  ["1 to 6", "Design, Plan, Graph, Facts, Specs, History (not while typing)"],
  ["?", "this table"],
];

function Keys() {
  return html`<${Dialog} title="Keys" onClose=${close}><table class="keys"><tbody>${keyTable.map(([k, w]) => html`<tr key=${k}><th scope="row">${k.split(/(,? )/).map(p => /^,? $/.test(p) ? " " : /^(in|a|field|to)$/.test(p) ? p : html`<kbd>${p}</kbd>`)}</th><td>${w}</td></tr>`)}</tbody></table>
    <footer><span class="space"></span><button class="main" onClick=${close}>Close</button></footer></${Dialog}>`;
}

function Copy({ text }) {
  const [done, setDone] = useState(false), el = useRef();
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); setDone(true); say("copied"); }
    catch { getSelection().selectAllChildren(el.current); tell("Selected: press Ctrl+C to copy."); }
  };
  return html`<div class="copy"><code ref=${el}>${text}</code><button class="main" onClick=${copy}>${done ? "Copied" : "Copy"}</button></div>`;
}

function Command() {
  const quote = s => /^[\w@%+=:,./-]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
  const file = doc.value.file, text = session.value?.command && session.value.file === file ? session.value.command : "ccm run " + quote((session.value?.directory ?? ".").replace(/\/$/, "") + "/" + file);
  return html`<${Dialog} title="Apply" onClose=${close}>
    <p>ccm studio never changes the machine. To apply the site, run this command in a terminal${session.value?.root ? "" : ", as root where the site needs it"}:</p><${Copy} text=${text} />
    ${doc.value.saved ? null : html`<p class="note">Unsaved changes are not applied. <button class="mini" onClick=${() => save()}>Save</button></p>`}
    <footer><span class="space"></span><button onClick=${close}>Close</button></footer></${Dialog}>`;
}

const kinds = [["site.yaml", "A site (recommended)"], ["site.lua", "A site as a program in Lua"], ["data/common.yaml", "Data: values that sites use"], ["modules/mine.lua", "A module: types of your own"], ["spec/site_spec.lua", "A spec: what the site must do"], ["templates/file.tmpl", "A template: text with places for values"]];
// make begins a file, and reports whether it could.
async function make(file) {
  if (!file || !await post("/api/new", { file })) return false;
  view.value = "design";
  side.value = "types";
  loadFiles();
  return true;
}
export const newSite = () => make(free("site.yaml"));

function New({ name }) {
  const [file, setFile] = useState(name ?? free("site.yaml")), input = useRef();
  const done = async () => { if (await make(file.trim())) close(); };
  return html`<${Dialog} title="A new file" onClose=${close}>
    <div class="stack wide">${kinds.map(([f, w]) => html`<button key=${f} class="choice" aria-pressed=${file === free(f)} onClick=${() => { setFile(free(f)); input.current.focus(); }}><b class="mono">${f}</b> <span>${w}</span></button>`)}</div>
    <label>Name, below the folder <input ref=${input} autofocus class="mono" value=${file} onInput=${e => setFile(e.target.value)} onKeyDown=${e => { if (e.key === "Enter") { done(); e.preventDefault(); } }} spellcheck="false" /></label>
    <p class="quiet">The file is created when you save.</p>
    <footer><button onClick=${close}>Cancel</button><span class="space"></span><button class="main" onClick=${done}>Create</button></footer></${Dialog}>`;
}
function free(name) { let n = name, i = 2; while (files.value.files.some(f => f.name === n)) n = name.replace(/(\.\w+)$/, "-" + i++ + "$1"); return n; }

const directions = [["require", "comes after the other"], ["subscribe", "comes after the other, and refreshes when that changes"], ["before", "comes before the other"], ["notify", "comes before the other, which refreshes when this changes"]];
function Link({ from, to }) {
  const r = withAsked(byKey(from)), [how, setHow] = useState("require"), [target, setTarget] = useState(byKey(to)?.id ?? "");
  if (!r) { close(); return null; }
  const has = [].concat(r.props?.[how] ?? []);
  const draw = async t => {
    if (!t.includes("#")) return tell("Select the other resource from the list.");
    if (has.includes(t)) { close(); return; }
    if (await edit({ op: "set", resource: r.key, property: how, value: [...has, t] })) { close(); say("added"); }
  };
  return html`<${Dialog} title="Add a dependency" onClose=${close}>
    <p><${Badge} type=${r.type} /> <b class="mono">${r.name}</b></p>
    <div class="stack wide" role="radiogroup" aria-label="How">${directions.map(([k, w]) => html`<label key=${k} class="choice"><input type="radio" name="how" checked=${how === k} autofocus=${how === k} onChange=${() => setHow(k)} onKeyDown=${e => { if (e.key === "Enter" && target) { draw(target); e.preventDefault(); } }} /> <span>${w}</span> <small class="mono">${k}</small></label>`)}</div>
    <label for="link-to">the other resource</label>
    <${Combo} id="link-to" value=${target} placeholder="type or choose" source=${idsLike(r.id)} onSave=${setTarget} />
    <footer><button onClick=${close}>Cancel</button><span class="space"></span><button class="main" onClick=${() => draw(document.getElementById("link-to").value)}>Add</button></footer></${Dialog}>`;
}

const importable = [["package", "Packages"], ["service", "Services"], ["file", "Files"], ["user", "Users"], ["group", "Groups"]];
function Import() {
  const [type, setType] = useState("package"), [names, setNames] = useState([]), [found, setFound] = useState(null), [busy, setBusy] = useState(false);
  const body = () => { const rs = resources.value, i = rs.findIndex(r => r.key === selected.value); return { file: doc.value.file, rev: doc.value.rev, type, names, at: i >= 0 ? rs[i + 1]?.key : undefined }; };
  const preview = async () => { setBusy(true); try { setFound(await call("/api/import", { ...body(), preview: true })); } catch (e) { setFound({ text: "", messages: [e.message, e.hint].filter(Boolean) }); } setBusy(false); };
  const take = async () => { const b = body(); delete b.rev; if (await post("/api/import", b)) { close(); say("imported"); } };
  const what = { user: "owner", file: "path" }[type] ?? type;
  return html`<${Dialog} title="Import from this machine" wide onClose=${close}>
    <p>Select existing items. They are added as resources after the selected one.</p>
    <${Pills} label="What" optional=${false} options=${importable.map(([v, l]) => ({ value: v, label: l }))} value=${type} onSave=${v => { setType(v); setNames([]); setFound(null); }} />
    <div class="refs">${names.map(n => html`<span key=${n} class="ref"><span class="mono">${n}</span><button class="off" aria-label=${"Remove " + n} onClick=${() => { setNames(names.filter(x => x !== n)); setFound(null); }}>×</button></span>`)}
      <${Combo} key=${type} id="import-name" clears aria-label="Name" value="" placeholder=${type === "file" ? "/etc/…" : "a name of this machine"} source=${async p => (await get("/api/complete", { what, prefix: p, file: doc.value.file, type, property: "name" })).items ?? []} onSave=${n => { if (n && !names.includes(n)) { setNames([...names, n]); setFound(null); } }} /></div>
    ${found ? html`${found.messages?.map(m => html`<p class="note">${m}</p>`)}${found.text ? html`<pre class="text" tabindex="0" aria-label="what would be added">${found.text}</pre>` : null}` : null}
    <footer><button onClick=${close}>Cancel</button><span class="space"></span><button disabled=${!names.length || busy} onClick=${preview}>Preview</button><button class="main" disabled=${!names.length || busy} onClick=${take}>Add ${names.length || ""}</button></footer></${Dialog}>`;
}

export function Dialogs() {
  const d = dialog.value;
  if (!d) return null;
  if (d.kind === "keys") return html`<${Keys} />`;
  if (d.kind === "command") return html`<${Command} />`;
  if (d.kind === "new") return html`<${New} name=${d.name} />`;
  if (d.kind === "link") return html`<${Link} from=${d.from} to=${d.to} />`;
  if (d.kind === "import") return html`<${Import} />`;
  return null;
}
