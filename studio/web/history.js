// history.js reads the past runs of this machine. It changes nothing.
import { html, useEffect, useState } from "/vendor/ui.js";
import { get } from "/api.js";
import { part, Rows } from "/parts.js";

const when = t => { const d = new Date(t); return isNaN(d) ? String(t ?? "") : d.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" }); };
const took = ns => ns === undefined ? "" : ns > 1e9 ? (ns / 1e9).toFixed(1) + " s" : Math.round(ns / 1e6) + " ms";
const site = r => (r.site ?? "").split("/").at(-1);

export function History() {
  const [runs, setRuns] = useState(null), [error, setError] = useState(""), [one, setOne] = useState(null), [only, setOnly] = useState(true);
  const load = () => get("/api/runs").then(r => { setRuns(r.runs ?? []); setError(r.error ?? ""); }, e => setError(e.message));
  useEffect(() => { load(); }, []);
  const open = async id => { try { setOne(await get("/api/runs/" + encodeURIComponent(id))); setError(""); } catch (e) { setError(e.message); } };
  const events = one?.events ?? [], run = one?.run, shown = only ? events.filter(e => e.outcome !== "stable") : events;
  return html`<section class="page history" aria-label="History"><div class="bar"><span class="quiet">${runs ? runs.length + (runs.length === 1 ? " run" : " runs") + " of this machine" : ""}</span><span class="space"></span><button onClick=${load}>Look again</button></div>
    <div class="two"><div class="scroll runs" role="group" aria-label="Runs" tabindex="0">${error ? html`<p class="err box">${error}</p>` : null}
      ${runs && !runs.length ? html`<p class="pad quiet">No run is recorded yet. When you have run a site in a terminal, it is here.</p>` : null}
      ${(runs ?? []).map(({ run: r, parts }) => html`<button key=${r.run_id} class=${"run" + (one?.id === r.run_id ? " now" : "")} aria-pressed=${one?.id === r.run_id} onClick=${() => open(r.run_id)}><b>${when(r.start_time)}</b><span class="quiet mono" title=${r.command}>${r.kind ?? "run"} ${site(r)}${r.root ? " below " + r.root : ""} ${took(r.summary?.duration)}</span>${parts.map(p => part(p))}</button>`)}</div>
      <div class="scroll pad" tabindex="0" aria-label="the run">${one ? html`<h2 class="verdict">${when(run.start_time)}</h2><p class="quiet"><span class="mono">${run.command ?? ""}</span> ${run.host ? "on " + run.host : ""} ${took(run.summary?.duration)} <span class="mono">${one.id}</span></p>${one.parts.map(p => part(p))}<p><label class="inline"><input type="checkbox" checked=${only} onChange=${e => setOnly(e.target.checked)} /> only what was not in order</label></p>
        ${shown.length ? html`<${Rows} key=${one.id + only} list=${shown} />` : html`<p class="quiet">All ${events.length} resources were up to date.</p>`}` : html`<p class="quiet">Choose a run to see what it did.</p>`}</div></div></section>`;
}
