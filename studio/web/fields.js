// fields.js are the controls of forms. Each gets a value and calls onSave with a new one;
// undefined takes the property out.
import { html, useEffect, useLayoutEffect, useRef, useState } from "/vendor/ui.js";
import { doc, resources, byID, choose, tell } from "/store.js";
import { call, get } from "/api.js";
import { extra, machineKinds, relations } from "/schema.js";
import { Badge } from "/list.js";

// useTyped keeps what is typed into a field apart from its value until it is applied, so that no
// answer and no other page takes it away. An applied text is shown until that has an answer; a text
// that was refused stays typed.
function useTyped(value, onSave) {
  const [, again] = useState(0), it = useRef({ text: null, sent: null }), now = useRef();
  const turn = next => { it.current = next; again(n => n + 1); };
  const field = {
    shown: it.current.text ?? it.current.sent ?? value ?? "",
    get dirty() { return it.current.text !== null; },
    type: text => turn({ ...it.current, text }),
    drop: () => turn({ ...it.current, text: null }),
    apply: (text = it.current.text) => {
      if (text === null) return;
      if (text === (it.current.sent ?? value ?? "")) return field.drop();
      const mine = { text: null, sent: text };
      turn(mine);
      Promise.resolve(onSave(text)).then(ok => {
        if (it.current.sent === text) turn({ text: it.current.text ?? (ok === false ? text : null), sent: null });
      });
    },
  };
  now.current = field.apply;
  useLayoutEffect(() => () => now.current(), []); // another resource was chosen while it was typed
  return field;
}

// Text is a line or an area. Enter applies, and leaving it does too; Esc takes the typing back.
export function Text({ value, onSave, area, mono, inputRef, ...rest }) {
  const mine = useRef(), el = inputRef ?? mine, field = useTyped(value, onSave);
  const keys = e => {
    if (e.isComposing) return;
    if (e.key === "Enter" && (!area || e.ctrlKey || e.metaKey)) { field.apply(); if (area) e.stopPropagation(); e.preventDefault(); }
    if (e.key === "Escape" && field.dirty) { field.drop(); e.stopPropagation(); }
  };
  const props = { ...rest, ref: el, value: field.shown, class: (mono ? "mono " : "") + (rest.class ?? ""), onInput: e => { field.type(e.target.value); rest.onInput?.(e); }, onBlur: e => { field.apply(); rest.onBlur?.(e); }, onKeyDown: e => { rest.onKeyDown?.(e); if (!e.defaultPrevented) keys(e); }, spellcheck: "false" };
  return area ? html`<textarea ...${props} rows=${Math.max(3, Math.min(14, String(field.shown).split("\n").length))}></textarea>` : html`<input ...${props} autocomplete="off" />`;
}

// Combo is a line with a list of what may be meant (ARIA combobox). source(prefix) returns
// items {text, detail}, or a promise of them. With clears it is empty after each choice.
export function Combo({ id, value, onSave, source, clears, ...rest }) {
  const [items, setItems] = useState(null), [at, setAt] = useState(-1), asked = useRef(0);
  const field = useTyped(value, text => { const done = onSave(text); return clears ? null : done; });
  const look = async prefix => {
    const n = ++asked.current;
    let found = [];
    try { found = await source(prefix); } catch { }
    if (n === asked.current) { setItems(found.slice(0, 50)); setAt(-1); }
  };
  const close = () => { asked.current++; setItems(null); setAt(-1); };
  const save = text => { field.apply(text); close(); };
  const keys = e => {
    if (e.isComposing) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      if (!items) look(field.dirty ? field.shown : "");
      else if (items.length) setAt((at + (e.key === "ArrowDown" ? 1 : items.length - (at < 0 ? 0 : 1))) % items.length);
      e.preventDefault();
    } else if (e.key === "Enter") { save(items && at >= 0 ? items[at].text : undefined); e.preventDefault(); }
    else if (e.key === "Escape") {
      if (items) { close(); e.stopPropagation(); } else if (field.dirty) { field.drop(); e.stopPropagation(); }
    }
  };
  const list = id + "-list";
  useEffect(() => { if (at >= 0) document.getElementById(list + at)?.scrollIntoView({ block: "nearest" }); }, [at]);
  return html`<div class="combo">
    <input ...${rest} id=${id} role="combobox" aria-autocomplete="list" aria-expanded=${!!items?.length} aria-controls=${list} aria-activedescendant=${at >= 0 ? list + at : undefined} autocomplete="off" spellcheck="false" value=${field.shown}
      onInput=${e => { field.type(e.target.value); look(e.target.value); }} onKeyDown=${keys} onBlur=${() => save()} onClick=${() => { if (!items) look(""); }} />
    <ul id=${list} role="listbox" aria-label="suggestions" hidden=${!items?.length}>${items?.map((i, n) => html`<li key=${i.text} id=${list + n} role="option" aria-selected=${n === at} onPointerDown=${e => { e.preventDefault(); save(i.text); }}>${i.type ? html`<${Badge} small type=${i.type} />` : null}<span>${i.label ?? i.text}</span><small>${i.detail}</small></li>`)}</ul></div>`;
}

// Pills are a group of radio buttons: arrow keys move and choose.
export function Pills({ id, label, options, value, preset, onSave, describe, optional = true }) {
  const now = options.findIndex(o => o.value === value), base = now >= 0 ? now : Math.max(0, options.findIndex(o => o.value === preset));
  const keys = e => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!by) return;
    const i = (base + by + options.length) % options.length;
    e.currentTarget.children[i].focus();
    onSave(options[i].value);
    e.preventDefault();
  };
  return html`<div class="pills" id=${id} role="radiogroup" aria-label=${label} aria-describedby=${describe} onKeyDown=${keys}>${options.map((o, i) => {
    const pale = now < 0 && o.value === preset && preset !== undefined;
    return html`<button key=${o.label} type="button" role="radio" tabindex=${i === base ? 0 : -1} aria-checked=${i === now || pale} class=${pale ? "dim" : ""} onClick=${() => onSave(i === now && optional ? undefined : o.value)}>${o.label}${pale ? html`<small>default</small>` : null}</button>`;
  })}</div>`;
}

// Mode is permissions in octal and as boxes.
function Mode({ id, value, onSave, hint, ...rest }) {
  const text = String(value ?? ""), n = /^(0[oO])?[0-7]{3,4}$/.test(text) ? parseInt(text.slice(-3), 8) : null;
  const high = /^[0-7]{4}$/.test(text) ? text[0] : "0";
  const flip = bit => onSave(high + ((n ?? 0) ^ bit).toString(8).padStart(3, "0"));
  return html`<div class="mode"><${Text} ...${rest} id=${id} mono value=${text} placeholder=${hint || "octal digits"} onSave=${v => onSave(v || undefined)} />
    <table role="group" aria-label="Permissions"><tbody>${["owner", "group", "others"].map((who, i) => html`<tr key=${who}><th scope="row">${who}</th>${["r", "w", "x"].map((w, j) => { const bit = 1 << (8 - i * 3 - j); return html`<td key=${w}><button type="button" role="checkbox" aria-label=${who + " may " + { r: "read", w: "write", x: "execute" }[w]} title=${who + " may " + { r: "read", w: "write", x: "run it; of a directory: enter it" }[w]} aria-checked=${n !== null && !!(n & bit)} onClick=${() => flip(bit)}>${w}</button></td>`; })}</tr>`)}</tbody></table></div>`;
}

// idsLike finds resources to refer to.
export const idsLike = except => prefix => resources.value.filter(r => r.id !== except && r.id.toLowerCase().includes(prefix.toLowerCase())).map(r => ({ text: r.id, label: r.name, type: r.type }));

// Refs are chips of resources, and a line to add one.
function Refs({ id, value, onSave, self, ...rest }) {
  const list = [].concat(value ?? []);
  const put = l => onSave(l.length ? l : undefined);
  return html`<div class="refs">${list.map((v, i) => {
    const text = typeof v === "string" ? v : JSON.stringify(v), r = byID.value.get(text), cut = text.indexOf("#");
    return html`<span key=${text} class=${"ref" + (r || !cut ? "" : " missing")}>${cut > 0 ? html`<${Badge} small type=${text.slice(0, cut)} />` : null}<button type="button" class="to" disabled=${!r} onClick=${() => choose(r.key)}>${cut > 0 ? text.slice(cut + 1) : text}</button><button type="button" class="off" aria-label=${"Remove " + text} onClick=${() => put(list.filter((_, j) => j !== i))}>×</button></span>`;
  })}<${Combo} ...${rest} id=${id} clears value="" placeholder="add a resource" source=${idsLike(self)} onSave=${v => {
      if (!v) return;
      const found = v.includes("#") ? [{ text: v }] : idsLike(self)(v);
      if (found.length === 1) { if (!list.includes(found[0].text)) put([...list, found[0].text]); }
      else tell(found.length ? `${found.length} resources have names that contain ${v}. Select one from the list.` : `No resource name contains ${v}. Add the resource from the left first, or select another one.`);
    }} /></div>`;
}

// parse makes a value of what was typed, as the schema wants it.
export function parse(text, schema) {
  if (schema?.type === "integer" || schema?.items?.type === "integer") return /^-?\d+$/.test(text) ? Number(text) : text;
  if (schema?.type === "number") return text !== "" && !isNaN(text) ? Number(text) : text;
  if (schema && !schema.type && !schema.anyOf && !schema.enum && /^(true|false|-?\d+(\.\d+)?|[[{].*[\]}])$/s.test(text)) { try { return JSON.parse(text); } catch { } }
  return text;
}

const show = v => v === undefined || v === null ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);

// ListOf is a line for each item.
function ListOf({ id, value, schema, onSave, name, kind, ...rest }) {
  const list = [].concat(value ?? []), item = schema.items ?? {};
  const put = l => onSave(l.length ? l : undefined);
  const [more, setMore] = useState(false), box = useRef();
  const fresh = () => setMore(true);
  useLayoutEffect(() => { if (more) box.current?.querySelector(".item:last-of-type input")?.focus(); }, [more]);
  if (item.type === "object") return html`<div class="items" id=${id}>${list.map((v, i) => html`<fieldset key=${i}><legend>${name} ${i + 1}<button type="button" class="off" aria-label=${"Remove " + name + " " + (i + 1)} onClick=${() => put(list.filter((_, j) => j !== i))}>×</button></legend>
      ${Object.entries(item.properties ?? {}).map(([n, s]) => html`<div key=${n} class="sub"><label for=${id + "-" + i + n}>${n}${item.required?.includes(n) ? html`<b class="must">required</b>` : null}</label><${Control} id=${id + "-" + i + n} name=${n} schema=${s} value=${v?.[n]} onSave=${x => { const o = { ...v }; if (x === undefined) delete o[n]; else o[n] = x; put(list.map((y, j) => j === i ? o : y)); }} /></div>`)}</fieldset>`)}
      <button type="button" class="mini" onClick=${() => put([...list, Object.fromEntries((item.required ?? []).map(n => [n, item.properties[n].examples?.[0] ?? "example"]))])}>+ add</button></div>`;
  const rows = more || !list.length ? [...list, undefined] : list;
  return html`<div class="items" ref=${box}>${rows.map((v, i) => html`<div class="item" key=${i}><${Text} ...${rest} id=${i ? id + "-" + i : id} mono=${kind === "command" || kind === "path"} aria-label=${i ? name + " " + (i + 1) : undefined} value=${show(v)} onSave=${x => {
      setMore(false);
      if (x === "") put(list.filter((_, j) => j !== i));
      else if (i < list.length) put(list.map((y, j) => j === i ? parse(x, schema) : y));
      else put([...list, parse(x, schema)]);
    }} />${i < list.length ? html`<button type="button" class="off" aria-label=${"Remove " + show(v)} onClick=${() => put(list.filter((_, j) => j !== i))}>×</button>` : null}</div>`)}
    ${list.length && !more ? html`<button type="button" class="mini" onClick=${fresh}>+ add</button>` : null}</div>`;
}

// MapOf is a line for each key and its value.
function MapOf({ id, value, onSave, name }) {
  const entries = Object.entries(value ?? {});
  const put = es => onSave(es.length ? Object.fromEntries(es) : undefined);
  return html`<div class="items">${[...entries, ["", ""]].map(([k, v], i) => html`<div class="item pair" key=${i}>
    <${Text} id=${i ? id + "-k" + i : id} mono aria-label=${name + ": key"} placeholder="name" value=${k} onSave=${x => put(x === "" ? entries.filter((_, j) => j !== i) : i < entries.length ? entries.map((e, j) => j === i ? [x, e[1]] : e) : [...entries, [x, ""]])} />
    <${Text} mono aria-label=${name + ": value of " + (k || "a new key")} placeholder="value" disabled=${i === entries.length} value=${show(v)} onSave=${x => put(entries.map((e, j) => j === i ? [e[0], parse(x, {})] : e))} /></div>`)}</div>`;
}

// Expr is a property that is worked out on the machine, with what it is here.
function Expr({ id, expr, onExpression, area, ...rest }) {
  const here = expr.value;
  return html`<div><div class="expr"><span title="An expression, evaluated on each machine">fx</span><${Text} ...${rest} id=${id} area=${area || expr.text.includes("\n")} mono value=${expr.text} onSave=${onExpression} /></div>
    ${here !== undefined && here !== null ? html`<p class="here"><b>here</b><code tabindex="0">${typeof here === "string" ? here : JSON.stringify(here)}</code></p>` : null}</div>`;
}

// Control chooses what a value is edited with, by its schema.
export function Control({ id, name, schema: s, value, onSave, self, expr, onExpression, describe, wrong, type }) {
  s = s ?? {};
  const x = extra(s), kind = x.kind, aria = { "aria-describedby": describe, "aria-invalid": wrong ? "true" : undefined };
  const example = x.example ?? (kind === "mode" ? undefined : s.examples?.[0]);
  const hint = s.default !== undefined ? s.default + " (default)" : example !== undefined ? "such as " + example : "";
  const text = v => onSave(v === "" ? (kind === "content" ? "" : undefined) : parse(v, s));
  const any = s.anyOf ?? [], array = s.type === "array" ? s : any.find(a => a.type === "array");
  const choices = s.enum ?? any.find(a => a.enum)?.enum;
  if (expr) return html`<${Expr} ...${aria} id=${id} expr=${expr} onExpression=${onExpression} area=${kind === "content"} />`;
  if (kind === "ref" || relations.includes(name)) return html`<${Refs} ...${aria} id=${id} value=${value} onSave=${onSave} self=${self} />`;
  if (s.enum && (value === undefined || s.enum.includes(value))) return s.enum.length < 4
    ? html`<${Pills} id=${id} label=${name} describe=${describe} options=${s.enum.map(o => ({ value: o, label: String(o) }))} value=${value} preset=${s.default} onSave=${onSave} />`
    : html`<select ...${aria} id=${id} value=${value ?? ""} onChange=${e => onSave(e.target.value || undefined)}><option value="">${s.default !== undefined ? s.default + " (default)" : "not set"}</option>${s.enum.map(o => html`<option key=${o} value=${o}>${o}</option>`)}</select>`;
  if (s.type === "boolean" && (value === undefined || typeof value === "boolean")) return html`<${Pills} id=${id} label=${name} describe=${describe} options=${[{ value: true, label: "yes" }, { value: false, label: "no" }]} value=${value} preset=${s.default === undefined ? undefined : s.default === true || s.default === "true"} onSave=${onSave} />`;
  if (kind === "mode" && name !== "umask") return html`<${Mode} ...${aria} hint=${hint} id=${id} value=${value} onSave=${onSave} />`;
  if (kind === "content" || typeof value === "string" && value.includes("\n")) return html`<${Text} ...${aria} id=${id} area mono value=${value} placeholder=${kind === "content" ? "the text, line by line" : hint} onSave=${text} />`;
  if (array && (Array.isArray(value) || kind !== "command" && ( any.length < 2 || any[0] === array))) return html`<${ListOf} ...${aria} id=${id} name=${name} kind=${kind} schema=${array} value=${value} onSave=${onSave} placeholder=${hint} />`;
  if (s.type === "object" || value && typeof value === "object" && !Array.isArray(value)) return html`<${MapOf} id=${id} name=${name} value=${value} onSave=${onSave} />`;
  if (choices) return html`<${Combo} ...${aria} id=${id} value=${show(value)} placeholder=${hint} onSave=${text} source=${p => choices.filter(c => !p || c.includes(p)).map(c => ({ text: c }))} />`;
  if (machineKinds.has(kind)) return html`<${Combo} ...${aria} id=${id} value=${show(value)} placeholder=${hint} onSave=${text} source=${async p => (await get("/api/complete", { what: kind, prefix: p, file: doc.value.file, type: type ?? "", property: name })).items ?? []} />`;
  return html`<${Text} ...${aria} id=${id} mono=${["path", "command", "url", "duration", "size"].includes(kind)} inputmode=${s.type === "integer" ? "numeric" : undefined} value=${show(value)} placeholder=${hint} onSave=${text} />`;
}
