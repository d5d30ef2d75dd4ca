// facts.js shows the facts of this machine, and of others whose facts were kept.
import { html, useEffect, useState, signal } from "/vendor/ui.js";
import { tell, say, session } from "/store.js";
import { call, get } from "/api.js";
import { profiles, profile as planned } from "/plan.js";

const facts = signal(null), error = signal("");
const chosen = signal("");

export async function loadFacts(name = chosen.value) {
  chosen.value = name;
  error.value = "";
  try { take(await get("/api/facts", { profile: name })); } catch (e) { error.value = e.message; facts.value = null; }
}
function take(answer) { facts.value = answer; profiles.value = answer.profiles ?? []; chosen.value = answer.profile; }
const put = async body => { try { take(await call("/api/facts", body)); return true; } catch (e) { tell(e.message, { hint: e.hint, kind: "err" }); return false; } };

const flat = (v, path = [], out = []) => {
  if (v && typeof v === "object" && Object.keys(v).length && !(Array.isArray(v) && v.every(x => typeof x !== "object"))) for (const [k, x] of Object.entries(v)) flat(x, [...path, k], out);
  else out.push([path, v]);
  return out;
};
const show = v => typeof v === "string" ? v : Array.isArray(v) ? v.join(", ") : JSON.stringify(v);

export function Facts() {
  const [q, setQ] = useState(""), [adding, setAdding] = useState(null), [text, setText] = useState("");
  useEffect(() => { loadFacts(); }, []);
  const rows = facts.value ? flat(facts.value.facts) : [];
  const ask = q.toLowerCase(), found = rows.filter(([p, v]) => (p.join(".") + " " + show(v)).toLowerCase().includes(ask));
  const copy = async path => { const t = "${ Facts." + path.join(".") + " }"; try { await navigator.clipboard.writeText(t); tell("Copied " + t, { kind: "good" }); } catch { tell(t); } };
  const change = (path, value) => {
    const next = structuredClone(facts.value.facts);
    let at = next;
    for (const k of path.slice(0, -1)) at = at[k];
    const old = at[path.at(-1)];
    at[path.at(-1)] = typeof old === "number" && value !== "" && !isNaN(value) ? Number(value) : Array.isArray(old) ? value.split(/,\s*/).filter(Boolean) : typeof old === "boolean" && /^(true|false)$/.test(value) ? value === "true" : value;
    put({ profile: chosen.value, facts: next });
  };
  const keepAs = async () => {
    let parsed;
    try { parsed = text.trim() ? JSON.parse(text) : facts.value.facts; } catch (e) { return tell("Invalid facts: " + e.message, { kind: "err" }); }
    if (await put({ profile: adding, facts: parsed })) { setAdding(null); setText(""); say("stored"); }
  };
  return html`<section class="page facts" aria-label="Facts"><div class="bar">
      <label class="inline">Facts of <select value=${chosen.value} onChange=${e => loadFacts(e.target.value)}><option value="">this machine${session.value?.host ? " (" + session.value.host + ")" : ""}</option>${profiles.value.map(p => html`<option key=${p} value=${p}>${p}</option>`)}</select></label>
      <input type="search" placeholder="Find a fact" aria-label="Find a fact" value=${q} onInput=${e => setQ(e.target.value)} />
      <button onClick=${() => { setAdding("web2"); setText(""); }}>Add a machine…</button>
      ${chosen.value ? html`<button onClick=${() => put({ profile: chosen.value, facts: null }).then(() => loadFacts(""))}>Remove</button>` : null}</div>
    <div class="scroll pad" tabindex="0" aria-label="facts">
    ${adding !== null ? html`<div class="note form-like"><p>Store the facts of another machine to plan for it. Print them on that machine with <code>ccm facts --output json</code>.</p>
      <label>Name <input value=${adding} onInput=${e => setAdding(e.target.value)} spellcheck="false" /></label>
      <label>Facts as JSON, or empty to copy the facts shown <textarea class="mono" rows="5" value=${text} onInput=${e => setText(e.target.value)} spellcheck="false"></textarea></label>
      <p><button class="main" onClick=${keepAs}>Store</button> <button onClick=${() => setAdding(null)}>Not now</button></p></div>` : null}
    ${error.value ? html`<p class="err box">${error.value}</p>` : !facts.value ? html`<p class="quiet">…</p>` : html`<p class="quiet">${found.length === rows.length ? rows.length + " facts." : found.length + " of " + rows.length + " facts."} ${chosen.value ? "Editable: plans for this profile use them." : "Click a fact to copy its expression."}</p>
      <table class="table"><thead><tr><th scope="col">fact</th><th scope="col">value</th></tr></thead><tbody>${found.slice(0, 800).map(([p, v]) => html`<tr key=${p.join(".")}><th scope="row"><button class="link mono" title="Copy" onClick=${() => copy(p)}>${p.join(".")}</button></th><td class="mono">${chosen.value ? html`<input aria-label=${p.join(".")} class="mono" defaultValue=${show(v)} onChange=${e => change(p, e.target.value)} spellcheck="false" />` : show(v)}</td></tr>`)}</tbody></table>`}
    </div></section>`;
}
