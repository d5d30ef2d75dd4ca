// specs.js runs the specs of the site: ccm test, in a world of its own that changes nothing.
import { html, signal, useState } from "/vendor/ui.js";
import { files, open, tell, say, dialog } from "/store.js";
import { call } from "/api.js";

const job = signal(null), result = signal(null), chosen = signal("");
let early = [];

export async function runSpecs(spec = chosen.value) {
  try {
    result.value = null;
    job.value = null;
    early = [];
    chosen.value = spec;
    const answer = await call("/api/test", { spec });
    job.value = answer;
    say("running specs");
    for (const e of early.splice(0)) tested(e);
  } catch (e) { tell(e.message, { hint: e.hint, kind: "err" }); }
}

// tested takes the event that ends a job.
export function tested(data) {
  if (!job.value) { early.push(data); return; }
  if (data.job !== job.value.job) return;
  result.value = data;
  say(data.exit === 0 ? "all specs passed" : "specs failed");
}

const outcome = r => r.outcome ?? r.status ?? (r.passed === true || r.ok === true ? "passed" : r.failed || r.error ? "failed" : "passed");

export function Specs() {
  const specs = files.value.files.filter(f => f.kind === "spec"), running = job.value && !result.value;
  const list = (Array.isArray(result.value?.results) ? result.value.results : []).filter(r => r && (r.name || r.spec || r.test));
  const bad = list.filter(r => /fail|error/.test(outcome(r)));
  return html`<section class="page specs" aria-label="Specs"><div class="bar"><label class="inline">Run <select value=${chosen.value} onChange=${e => chosen.value = e.target.value}><option value="">all specs</option>${specs.map(s => html`<option key=${s.name} value=${s.name}>${s.name}</option>`)}</select></label>
      <button class="main" disabled=${running} onClick=${() => runSpecs()}>${running ? "Running…" : "Run"}</button><span class="space"></span>${job.value ? html`<code>${job.value.command}</code>` : null}</div>
    <div class="scroll pad" tabindex="0" aria-label="results">
      ${!specs.length ? html`<p class="lead">No specs yet.</p><p class="quiet">A spec tests a site on a simulated machine. Its file is named like <code>site_spec.lua</code>. <button class="link" onClick=${() => dialog.value = { kind: "new", name: "spec/site_spec.lua" }}>Make one</button></p>` : null}
      ${result.value ? html`<h2 class="verdict">${result.value.exit === 0 ? list.length + " of " + list.length + " hold" : result.value.status === "cancelled" ? "Stopped." : bad.length ? bad.length + " of " + list.length + " fail" : "The specs could not run"}</h2>
        <div class="events">${list.map((r, i) => html`<div key=${i} class=${"event " + (/fail|error/.test(outcome(r)) ? "failed" : /skip|pend/.test(outcome(r)) ? "skipped" : "stable")}><div class="head"><b class=${"o " + (/fail|error/.test(outcome(r)) ? "failed" : /skip|pend/.test(outcome(r)) ? "skipped" : "stable")}>${outcome(r)}</b><span class="what">${r.name ?? r.test ?? r.spec}</span><span class="sum">${r.file ?? r.position ?? ""}</span></div>
          ${r.message || r.error || r.errors ? html`<pre class="text" tabindex="0" aria-label="message">${r.message ?? r.error ?? [].concat(r.errors).join("\n")}</pre>` : null}</div>`)}</div>
        ${result.value.messages ? html`<pre class="text messages" tabindex="0" aria-label="messages">${result.value.messages}</pre>` : null}` : null}
      ${specs.length ? html`<p class="quiet">Specs of this site: ${specs.map((s, i) => html`${i ? ", " : ""}<button class="link mono" onClick=${() => open(s.name)}>${s.name}</button>`)}</p>` : null}
    </div></section>`;
}
