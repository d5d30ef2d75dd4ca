// plan.js asks what a run would do, here or with the facts of another machine, and shows it.
import { html, signal, computed, batch } from "/vendor/ui.js";
import { doc, session, outcomes, choose, byID, view, tell, say, dialog, settled } from "/store.js";
import { call, get, Failed } from "/api.js";
import { part, Rows } from "/parts.js";

export const job = signal(null);      // {job, command, unsaved, rev, profile}
export const ended = signal(null);    // PlanEnd of it
export const events = signal([]);
const bar = signal(null);             // the share of each outcome
export const profile = signal("");
export const profiles = signal([]);
const shown = signal("");             // an outcome, or all

export const running = computed(() => !!job.value && !ended.value);
export const pending = computed(() => events.value.filter(e => e.outcome === "pending").length);
export const old = computed(() => !!job.value && doc.value && (job.value.rev !== doc.value.rev || job.value.file !== doc.value.file));

const verbs = [[/install/, "install"], [/creat/, "create"], [/remov|delet/, "remove"], [/restart/, "restart"], [/reload/, "reload"], [/stop/, "stop"], [/start/, "start"], [/enabl/, "enable"], [/\bran\b|\brun\b|execut/, "run"], [/upgrad/, "upgrade"], [/download|extract/, "unpack"]];

// wordOf is the outcome of an event in a word.
export function wordOf(e) {
  if (e.outcome === "stable") return "up to date";
  if (e.outcome === "failed") return "fails";
  if (e.outcome === "unknown") return "unknown";
  if (e.outcome !== "pending") return e.outcome;
  return verbs.find(([r]) => r.test(e.story))?.[1] ?? "change";
}

export async function start(targets) {
  if (running.value) return;
  try {
    await settled();
    const body = { file: doc.value.file, rev: doc.value.rev, profile: profile.value || undefined, targets };
    batch(() => { events.value = []; bar.value = null; ended.value = null; outcomes.value = {}; });
    buffer = [];
    early = [];
    job.value = null;
    const answer = await call("/api/plan", body);
    job.value = { ...answer, rev: body.rev, file: body.file, profile: profile.value };
    say("planning");
    for (const [name, data] of early.splice(0)) planned(name, data);
  } catch (e) {
    if (e.code === "stale") { tell("The text has changed. Plan again."); return; }
    tell(e.message, { hint: e.hint, kind: "err" });
  }
}
export const cancel = () => job.value && call("/api/plan/cancel", { job: job.value.job }).catch(e => tell(e.message));

let buffer = [], scheduled = false, early = [];
function flush() {
  scheduled = false;
  const news = buffer.splice(0), by = { ...outcomes.value };
  if (!news.length) return;
  if (job.value && job.value.file === doc.value?.file) for (const { event: e } of news) by[e.type + "#" + e.name] = e;
  batch(() => { events.value = events.value.concat(news.map(n => n.event)); bar.value = news.at(-1).bar; outcomes.value = by; });
}

// planned takes an event of the stream.
export function planned(name, data) {
  if (!job.value) { early.push([name, data]); return; } // it comes before the answer that names the job
  if (data.job !== job.value.job) return;
  if (name === "plan") {
    buffer.push(data);
    if (!scheduled) { scheduled = true; setTimeout(flush, 60); }
    return;
  }
  flush();
  ended.value = data;
  const n = pending.value;
  say(data.status === "done" || data.exit === 0 ? "plan: " + n + " to change" : "the plan ended: " + data.status);
}

const order = ["failed", "changed", "pending", "unknown", "skipped", "stable"];
const named = { failed: "would fail", changed: "changed", pending: "to change", unknown: "unknown", skipped: "skipped", stable: "up to date" };

const counted = list => { const c = {}; for (const e of list) c[e.outcome] = (c[e.outcome] ?? 0) + 1; return c; };

export function PlanView() {
  const counts = counted(events.value), total = events.value.length;
  const list = shown.value ? events.value.filter(e => e.outcome === shown.value) : [...events.value].sort((a, b) => (a.outcome === "stable") - (b.outcome === "stable"));
  const where = job.value?.profile ? "with the facts of " + job.value.profile : "on " + (session.value?.host || "this machine");
  return html`<section class="page plan" aria-label="Plan"><div class="bar">
      <label class="inline">As on <select value=${profile.value} onChange=${e => profile.value = e.target.value}><option value="">this machine${session.value?.host ? " (" + session.value.host + ")" : ""}</option>${profiles.value.map(p => html`<option key=${p} value=${p}>${p}</option>`)}</select></label>
      ${running.value ? html`<button onClick=${cancel}>Stop</button>` : html`<button class="main" onClick=${() => start()}>Plan</button>`}
      <span class="space"></span><button onClick=${() => dialog.value = { kind: "command" }}>Apply…</button></div>
    <div class="scroll pad" tabindex="0" aria-label="result of the plan">
    ${!job.value ? html`<p class="lead">A plan shows what a run would change, without changing anything.</p><p class="quiet">It looks at ${session.value?.host || "this machine"}, or takes the facts of another one that you kept. ccm studio never applies anything: <button class="link" onClick=${() => dialog.value = { kind: "command" }}>that is a command for the terminal</button>.</p>` : html`
      <h2 class="verdict">${running.value ? "Planning " + where + "…" : ended.value?.status === "cancelled" ? "Stopped." : ended.value?.status === "timeout" ? "Timed out." : counts.failed ? counts.failed + " would fail " + where : counts.pending ? counts.pending + " to change " + where : total ? "Nothing to do " + where : "The plan could not be made"}</h2>
      ${old.value ? html`<p class="note">The text changed after this plan. <button class="link" onClick=${() => start()}>Plan again</button></p>` : null}
      ${job.value.unsaved?.length ? html`<p class="note">Unsaved changes are not included: ${job.value.unsaved.join(", ")}.</p>` : null}
      ${total ? html`${bar.value ? part(bar.value) : null}<div class="picks" role="group" aria-label="Show">${[["", total + (total === 1 ? " resource" : " resources")], ...order.filter(o => counts[o]).map(o => [o, counts[o] + " " + named[o]])].map(([o, w]) => html`<button key=${o} class=${"chip " + o} aria-pressed=${shown.value === o} onClick=${() => shown.value = o}>${o ? html`<i class=${"dot " + o}></i>` : null}${w}</button>`)}</div>` : null}
      ${ended.value?.messages ? html`<pre class="text messages" tabindex="0" aria-label="messages">${ended.value.messages}</pre>` : null}
      ${ended.value?.cut ? html`<p class="note">Not all events are shown.</p>` : null}
      <${Rows} list=${list} onChoose=${id => { const r = byID.value.get(id); if (r) choose(r.key); }} />`}
    </div></section>`;
}
