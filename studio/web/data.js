// data.js is the browser of a data file: what it holds as a tree, each value of which can be
// changed.
import { html, signal, useState } from "/vendor/ui.js";
import { doc, edit } from "/store.js";
import { Text } from "/fields.js";

const closed = signal(new Set());
const name = path => path.map(p => typeof p === "number" ? `[${p + 1}]` : p).join(".").replace(/\.\[/g, "[");

// read makes a value of what was typed: numbers and true and false are themselves.
const read = (text, old) => typeof old === "string" ? text : /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;

function Row({ path, label, value, list }) {
  const id = "d" + JSON.stringify(path), inside = value && typeof value === "object", shut = closed.value.has(id), key = path.at(-1);
  const flip = () => { const s = new Set(closed.value); if (s.has(id)) s.delete(id); else s.add(id); closed.value = s; };
  const [adding, setAdding] = useState(false);
  const add = text => {
    setAdding(false);
    if (!text) return;
    if (Array.isArray(value)) edit({ op: "insert", path, index: value.length, value: read(text) });
    else { const cut = text.indexOf(":"), k = (cut > 0 ? text.slice(0, cut) : text).trim(), v = cut > 0 ? text.slice(cut + 1).trim() : ""; edit({ op: "set", path: [...path, k], value: v.startsWith("{") || v.startsWith("[") ? tryJSON(v) : read(v) }); }
  };
  const tools = path.length ? html`<span class="tools">${list ? html`<button class="what" aria-label=${"Move " + name(path) + " up"} disabled=${key === 0} onClick=${() => edit({ op: "reorder", path: path.slice(0, -1), index: key, to: key - 1 })}>↑</button><button class="what" aria-label=${"Move " + name(path) + " down"} disabled=${key === list - 1} onClick=${() => edit({ op: "reorder", path: path.slice(0, -1), index: key, to: key + 1 })}>↓</button>` : null}
    <button class="what" aria-label=${"Take " + name(path) + " out"} onClick=${() => edit({ op: "unset", path })}>×</button></span>` : null;
  if (!inside) return html`<div class="datum"><label for=${id}>${label}</label><${Text} id=${id} mono area=${typeof value === "string" && value.includes("\n")} value=${value === null ? "null" : String(value)} onSave=${v => edit({ op: "set", path, value: read(v, value) })} /><small class="quiet">${value === null ? "nothing" : { string: "text", number: "number", boolean: "yes or no" }[typeof value]}</small>${tools}</div>`;
  const entries = Array.isArray(value) ? value.map((v, i) => [i, v]) : Object.entries(value);
  return html`<div class="branch">${path.length ? html`<div class="datum head"><button class="link" aria-expanded=${!shut} onClick=${flip}>${shut ? "▸" : "▾"} ${label}</button><small class="quiet">${entries.length} ${Array.isArray(value) ? entries.length === 1 ? "item" : "items" : entries.length === 1 ? "key" : "keys"}</small>${tools}</div>` : null}
    ${shut ? null : html`<div class=${path.length ? "inside" : ""}>${entries.map(([k, v]) => html`<${Row} key=${k} path=${[...path, k]} label=${typeof k === "number" ? k + 1 : k} value=${v} list=${Array.isArray(value) ? entries.length : 0} />`)}
      ${adding ? html`<div class="datum"><input aria-label=${"new in " + (name(path) || "the file")} ref=${el => el?.focus()} placeholder=${Array.isArray(value) ? "value" : "name: value"} onKeyDown=${e => { if (e.key === "Enter") add(e.target.value); if (e.key === "Escape") setAdding(false); }} onBlur=${e => add(e.target.value)} /></div>` : html`<button class="mini" onClick=${() => setAdding(true)}>+ ${Array.isArray(value) ? "item" : "key"}</button>`}</div>`}</div>`;
}
const tryJSON = t => { try { return JSON.parse(t); } catch { return t; } };

export function Data() {
  const d = doc.value.data;
  return html`<section class="list data" aria-label="Data"><div class="bar"><b>Content of the file</b><span class="quiet">${doc.value.file}</span></div>
    <div class="scroll pad" tabindex="0" aria-label="data">${d === undefined || d === null ? html`<p class="quiet">The text below cannot be read as data. ${doc.value.mistakes?.[0]?.message ?? ""}</p>` : html`<${Row} path=${[]} label="" value=${d} />`}</div>
    <div class="foot"><span></span><span role="status">${doc.value.mistakes.length ? html`<span class="err">${doc.value.mistakes[0].message}</span>` : html`<span class="good">No problems</span>`}</span></div></section>`;
}
