// trust.js asks before the folder of somebody else is evaluated, and asks for the address when
// there is no session.
import { html, useState } from "/vendor/ui.js";
import { session, needLogin, online, tell, loadTypes, loadFiles, doc, open } from "/store.js";
import { call } from "/api.js";

export const unasked = { value: null };

export function Trust({ onLater }) {
  const s = session.value, [error, setError] = useState("");
  const trust = async () => {
    try { session.value = await call("/api/trust", { directory: s.directory }); loadTypes(); loadFiles(); if (doc.value) open(doc.value.file); } catch (e) { setError(e.message); }
  };
  return html`<main class="gate" aria-label="Trust this folder?"><div class="card"><h1>Do you trust this folder?</h1>
    <p class="mono big">${s.directory}</p>
    <p>To check a site, ccm has to evaluate it. Its Lua and its templates run as <b>${s.user}</b> on <b>${s.host}</b>. They cannot change the machine, but they can read what you can read. Nothing has been evaluated yet.</p>
    ${s.why?.length ? html`<ul>${s.why.map(w => html`<li key=${w}>${w}</li>`)}</ul>` : null}
    ${error ? html`<p class="err box" role="alert">${error}</p>` : null}
    <footer><button onClick=${onLater}>View texts only</button><span class="space"></span><button class="main" onClick=${trust}>Trust</button></footer></div></main>`;
}

// tokenOf finds the token in what was pasted: an address or the token alone.
export const tokenOf = text => /token=([\w-]+)/.exec(text)?.[1] ?? text.trim();

export function Login({ then }) {
  const [text, setText] = useState(""), [error, setError] = useState("");
  const go = async () => { try { await call("/login", { token: tokenOf(text) }); then(); } catch (e) { setError(e.message + (e.hint ? ": " + e.hint : "")); } };
  return html`<form class="login" onSubmit=${e => { e.preventDefault(); go(); }}><label>Paste the address that ccm studio printed in the terminal <input class="mono" value=${text} onInput=${e => setText(e.target.value)} autocomplete="off" spellcheck="false" /></label><button class="main" type="submit">Continue</button>${error ? html`<p class="err" role="alert">${error}</p>` : null}</form>`;
}

// Offline is above the page while nobody answers.
export function Offline() {
  if (online.value && !needLogin.value) return null;
  return html`<div class="offline" role="alert">${needLogin.value ? html`<b>ccm studio was restarted.</b> <span>Your input is kept.</span><${Login} then=${() => { needLogin.value = false; }} />`
    : html`<b>ccm studio does not respond.</b> <span>Your changes are kept and sent when it is back. Restart it with <code>ccm studio --listen ${location.host}</code></span>`}</div>`;
}
