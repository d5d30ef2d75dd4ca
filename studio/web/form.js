// form.js is the properties of the chosen resource, made from the schema of its type.
import { html, useEffect, useLayoutEffect, useRef, useState, signal } from "/vendor/ui.js";
import { epoch, naming, wordsOf, doc, types, resources, current, picked, pickedInOrder, mistakesOf, byID, edit as ask, choose, open, show, panes, outcomes, dialog, selected } from "/store.js";
import { extra, parts, words, first, gloss, relations, rowOf } from "/schema.js";
import { Control, Text, Combo } from "/fields.js";
import { Badge, remove, double, move } from "/list.js";
import { add } from "/palette.js";
import { wordOf, old } from "/plan.js";
import { Inside } from "/parts.js";
import { get } from "/api.js";

const all = signal(false);
export const about = signal(""); // the property whose reference is at the foot

const saying = { require: "after these are applied", subscribe: "after these, and again when they change", before: "before these", notify: "before these, and refreshes them on changes" };

// edit asks for an edit of a resource, of the file that it was shown from.
const edit = (r, op) => ask({ file: r.file, resource: r.key, ...op });

export function Form() {
  const r = current.value;
  if (!doc.value) return null;
  if (picked.value.size > 1) return html`<${Several} />`;
  if (!r) return html`<aside class="form empty" aria-label="Properties"><p>Select a resource to see its properties.</p></aside>`;
  return html`<${One} key=${doc.value.file} r=${r} />`;
}

function Several() {
  const n = picked.value.size;
  return html`<aside class="form" aria-label="Properties"><header><b>${n} resources</b></header><div class="scroll">
    <p class="quiet">Actions apply to all of them.</p>
    <div class="stack"><button class="mini" onClick=${() => move(-1)}>Move up</button><button class="mini" onClick=${() => move(1)}>Move down</button><button class="mini" onClick=${double}>Duplicate</button><button class="mini" onClick=${remove}>Remove</button></div></div></aside>`;
}

function One({ r }) {
  const box = useRef(), place = useRef({});
  const t = types.value.$defs[r.type], wrong = mistakesOf.value.get(r.key) ?? [], p = r.props ?? {};
  const away = r.file !== doc.value.file, fixed = r.form === "none" || away;
  useEffect(() => { const at = document.activeElement; about.value = box.current?.contains(at) ? at.closest("[data-property]")?.dataset.property ?? "" : ""; }, [r.key]);
  const unfold = e => { const button = e.currentTarget; all.value = !all.value; if (all.value) requestAnimationFrame(() => button.scrollIntoView({ block: "start" })); };
  useLayoutEffect(() => { const scroll = box.current.querySelector(".scroll"); if (scroll) scroll.scrollTop = 0; }, [epoch.value]); // another resource begins at its name
  useLayoutEffect(() => { if (naming.value === r.key) { naming.value = ""; box.current.querySelector(".name input")?.select(); } });
  const { top, set, order, more, common, must } = parts(r.type, p, wrong, steady(place));
  const known = new Set([...(t ? Object.keys(t.properties) : [])]);
  const unknown = t ? Object.keys(p).filter(n => !known.has(n)) : [];
  const shownFields = new Set([...top, ...(set ?? []), ...order, ...(all.value ? [...more, ...common] : []), "name", rowOf(r.type)?.name_property]);
  const loose = wrong.filter(m => !m.field || !shownFields.has(m.field) && !unknown.includes(m.field));
  const at = fits => wrong.find(m => fits(m) && m.severity !== "warning") ?? wrong.find(fits); // a mistake before a warning
  const f = n => html`<${Field} key=${epoch.value + n} r=${r} name=${n} schema=${t.properties[n]} value=${p[n]} said=${at(m => m.field === n)} must=${must?.has(n) || extra(t.properties[n]).required} unless=${extra(t.properties[n]).required_unless} />`;
  const back = e => { if (e.key === "Escape") { document.querySelector(".rows")?.focus(); e.preventDefault(); } };
  const out = outcomes.value[r.id];
  const users = resources.value.filter(x => x.key !== r.key && relations.some(k => [].concat(x.props?.[k] ?? []).includes(r.id)));
  const rename = name => { if (name && name !== r.name) return edit(r, { op: "rename", name }); };
  const nameX = t && Object.entries(t.properties).find(([n]) => n === (rowOf(r.type)?.name_property ?? "name"));
  const nameKind = extra(nameX?.[1]).kind;
  const nameWrong = at(m => m.field === "name" || nameX && m.field === nameX[0]);
  return html`<aside class="form" aria-label="Properties" ref=${box} onKeyDown=${back}>
    <header><${Badge} type=${r.type} /><span class="space"></span>
      <button class="mini" title="Duplicate (Ctrl+D in the list)" onClick=${double}>Duplicate</button><button class="mini" title="Remove (Del in the list)" onClick=${remove}>Remove</button>
      ${away ? null : html`<button class="mini" title="Show it in the text" onClick=${() => { if (panes.value === "none") panes.value = "both"; show(r.line); }}>line ${r.line}</button>`}</header>
    <div class="scroll" tabindex="-1" onFocusIn=${e => { const n = e.target.closest("[data-property]")?.dataset.property; if (n) about.value = n; }}>
    ${loose.map(m => html`<p class=${toneOf(m) + " box"} role="alert">${m.field && !wordsOf(m, r).startsWith(m.field) ? html`<b>${m.field}</b>: ` : null}${wordsOf(m, r)}${m.hint ? html` <em>${m.hint}</em>` : null}</p>`)}
    ${out?.outcome === "failed" && !old.value ? html`<p class="err box"><b>Would fail:</b> ${out.story}${lacking(out) ? html` <button class="mini" onClick=${() => add("directory", r.key, lacking(out))}>Add ${lacking(out)} before it</button>` : null}</p>` : null}
    ${away ? html`<p class="note">Declared in ${r.file}. <button class="link" onClick=${() => open(r.file)}>Open that file</button></p>` : r.form === "none" ? html`<p class="note">${r.why || "Editable only as text."} <button class="link" onClick=${() => { if (panes.value === "none") panes.value = "both"; show(r.line); }}>Show it in the text</button></p>` : null}
    ${r.shared ? html`<p class="note">${r.shared === 1 ? "This declaration creates 2 resources. Editing it changes both." : "This declaration creates " + (r.shared + 1) + " resources. Editing it changes all."} ${fixed ? null : html`<button class="link" onClick=${() => edit(r, { op: "split" })}>Split into separate resources</button>`}</p>` : null}
    ${r.skip ? html`<p class="note">Skipped here: ${r.skip}</p>` : null}
    ${r.results?.length > 1 ? html`<p class="note">Declares ${r.results.length} resources: ${r.results.slice(0, 6).join(", ")}${r.results.length > 6 ? " and more" : ""}.</p>` : null}
    <div class=${"field name" + (toneOf(nameWrong) === "err" ? " wrong" : "")} data-property="name"><label for="f-name">Name</label>
      ${fixed ? html`<output id="f-name" class="mono">${r.name}</output>` : nameKind && ["package", "service", "path", "owner", "group"].includes(nameKind) || ["package", "service", "user", "group"].includes(r.type)
        ? html`<${Combo} key=${epoch.value} id="f-name" value=${r.name} aria-describedby="f-name-d" onSave=${rename} source=${async q => (await get("/api/complete", { what: nameKind ?? (r.type === "user" ? "owner" : r.type), prefix: q, file: doc.value.file, type: r.type, property: "name" })).items ?? []} />`
        : html`<${Text} key=${epoch.value} id="f-name" value=${r.name} aria-describedby="f-name-d" onSave=${rename} />`}
      <p id="f-name-d" class="help" hidden>${words(nameX?.[1]?.description)}</p>
      ${nameWrong ? html`<p class=${toneOf(nameWrong)} role="alert">${wordsOf(nameWrong, r)}</p>` : null}</div>
    ${t && !fixed ? html`<div class="fields">${top.map(f)}${set.map(f)}</div>
      ${unknown.map(n => html`<div key=${n} class="field wrong" data-property=${n}><label>${n}</label><button class="mini" onClick=${() => edit(r, { op: "unset", property: n })}>Remove</button><output class="mono">${JSON.stringify(p[n])}</output><p class="err" role="alert">${wrong.some(m => m.field === n) ? wordsOf(wrong.find(m => m.field === n), r) : "unknown property"}${wrong.find(m => m.field === n)?.hint ? html` <em>${wrong.find(m => m.field === n).hint}</em>` : null}</p></div>`)}
      ${order.length ? html`<h4>Order</h4>${order.map(f)}` : null}
      ${users.length ? html`<div class="field"><span class="label">required by</span><div class="refs">${users.slice(0, 20).map(u => html`<span class="ref" key=${u.key}><${Badge} small type=${u.type} /><button class="to" onClick=${() => choose(u.key)}>${u.name}</button></span>`)}</div></div>` : null}
      ${more.length + common.length ? html`<button class="more" aria-expanded=${all.value} onClick=${unfold}>${all.value ? "Fewer properties" : more.length + common.length + " more properties"}</button>` : null}
      ${all.value ? html`<div class="fields">${more.map(f)}</div>${common.length ? html`<h4>Of all types</h4><div class="fields">${common.map(f)}</div>` : null}` : null}`
    : html`<dl class="props">${Object.entries(p).map(([k, v]) => html`<dt>${k}</dt><dd class="mono">${r.expressions?.find(e => e.property === k)?.text ?? (typeof v === "string" ? v : JSON.stringify(v))}</dd>`)}</dl>`}
    ${out ? html`<h4>Plan</h4><p class="story"><b class=${"o " + out.outcome}>${wordOf(out)}</b></p><${Inside} event=${out} />` : null}
    </div>
    <${Reference} type=${r.type} t=${t} name=${nameX?.[1]} /></aside>`;
}

// lacking is the directory that an event says has to be declared before it, if any.
const lacking = e => e.story?.match(/(\/\S*) does not exist \(declare it earlier, as a directory/)?.[1];

// steady leaves a field where it stands while its resource is chosen: one that gets a value does not
// go from beneath the mouse or the caret, nor does one that loses it.
function steady(place) {
  const key = epoch.value + " " + all.value, old = place.current.key === key ? place.current.set : null, set = new Set();
  place.current = { key, set };
  return (name, now) => {
    if (old) now = old.has(name) || now && !all.value;
    if (now) set.add(name);
    return now;
  };
}

// Reference says at the foot of the form what the property is for in which one types.
function Reference({ type, t, name }) {
  const n = about.value, s = n === "name" ? name : t?.properties[n];
  return html`<section class="reference" aria-label="Reference" tabindex="0"><h4>${s && n !== "name" ? n : s ? type + ": name" : type}</h4>${n === "name" && s ? html`<p>${first(t.description)}.</p>` : null}<p>${words(s ? s.description : t?.description || rowOf(type)?.short)}</p>
    ${s?.default !== undefined ? html`<p class="quiet">Default: <code>${String(s.default)}</code>.</p>` : null}${extra(s).example || s?.examples && extra(s).kind !== "mode" ? html`<p class="quiet">Example: <code>${String(extra(s).example ?? s.examples[0])}</code>.</p>` : null}</section>`;
}

// toneOf is how a mistake or a warning looks.
const toneOf = m => m ? m.severity === "warning" ? "warn" : "err" : "";

function Field({ r, name, schema, value, said, must, unless }) {
  const error = toneOf(said) === "err" ? said : null;
  const [help, setHelp] = useState(false), [fx, setFx] = useState(false);
  const lua = doc.value.language === "lua", found = r.expressions?.find(e => e.property === name);
  const expr = (found && !lua && typeof value === "string" ? { ...found, text: value } : found) ?? (fx ? { text: value === undefined ? "" : typeof value === "string" ? JSON.stringify(value) : String(value) } : undefined);
  const has = name in (r.props ?? {});
  const onSave = v => v === undefined ? has ? edit(r, { op: "unset", property: name }) : null : edit(r, { op: "set", property: name, value: v });
  const onExpression = v => { setFx(false); return v.trim() === "" ? onSave(undefined) : !lua ? onSave(v) : edit(r, { op: "set", property: name, expression: v }); };
  const id = "f-" + name, half = ["owner", "group", "uid", "gid"].includes(name) && ["file", "directory", "link", "user"].includes(r.type);
  const wide = relations.includes(name);
  return html`<div class=${"field" + (half ? " half" : "") + (error ? " wrong" : "") + (has ? " set" : " unset")} data-property=${name}>
    <label for=${id}>${name}${must && !has ? html`<b class="must">required</b>` : unless && !has ? html`<b class="must" title=${unless}>required</b>` : null}${wide ? html`<small>${saying[name]}</small>` : half || must && !has ? null : html`<small class="gloss" aria-hidden="true" title=${words(schema?.description)}>${gloss(name, schema)}</small>`}</label>
    <${Control} id=${id} name=${name} type=${r.type} schema=${schema} value=${value} self=${r.id} onSave=${onSave} expr=${expr} onExpression=${onExpression} describe=${id + "-d" + (said ? " " + id + "-e" : "")} wrong=${!!error} />
    <span class="tools">${doc.value.language === "lua" && !expr && !wide ? html`<button type="button" class="what" title="Write an expression" aria-label=${"Write " + name + " as an expression"} onClick=${() => setFx(true)}>fx</button>` : null}
    ${has && !wide ? html`<button type="button" class="what" title="Take it out" aria-label=${"Take " + name + " out"} onClick=${() => onSave(undefined)}>×</button>` : null}
    <button type="button" class="what" tabindex="-1" title="What it is" aria-label=${"What " + name + " is"} aria-expanded=${help} onClick=${() => setHelp(!help)}>?</button></span>
    <p id=${id + "-d"} class="help" hidden=${!help}>${words(schema?.description)}</p>
    ${said ? html`<p class=${toneOf(said)} id=${id + "-e"} role="alert">${wordsOf(said, r)}${said.hint ? html` <em>${said.hint}</em>` : null}</p>` : null}</div>`;
}
