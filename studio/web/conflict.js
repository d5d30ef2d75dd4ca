// conflict.js shows three texts of a file that somebody else changed as well: as it was read, as
// it is here, and as it is on the disk. Nothing is written before one was chosen.
import { html, useState } from "/vendor/ui.js";
import { conflict, save, saveMerged, doc } from "/store.js";
import { Dialog } from "/dialogs.js";

export function Conflict() {
  const c = conflict.value;
  const chunks = c.merged ?? [], [choices, set] = useState({});
  const both = chunks.map((k, i) => [k, i]).filter(([k]) => k.conflict), open = both.filter(([, i]) => !choices[i]);
  const text = chunks.map((k, i) => k.conflict ? ({ mine: k.mine, theirs: k.theirs, both: (k.mine ?? "") + (k.theirs ?? ""), neither: "" }[choices[i]] ?? "") : k.text).join("");
  const close = () => conflict.value = null;
  const lines = s => (s ?? "") === "" ? html`<i class="quiet">nothing</i>` : s;
  const far = s => { const l = (s ?? "").split("\n"); return l.length > 9 ? l.slice(0, 4).join("\n") + "\n⋯ " + (l.length - 8) + " lines\n" + l.slice(-5).join("\n") : s; };
  const pick = (i, what, label, body) => html`<label class=${"side" + (choices[i] === what ? " on" : "")}><span><input type="radio" name=${"chunk" + i} checked=${choices[i] === what} onChange=${() => set({ ...choices, [i]: what })} /> ${label}</span><pre tabindex="0" aria-label=${label}>${lines(body)}</pre></label>`;
  return html`<${Dialog} title=${c.file + " changed on disk"} wide onClose=${close}>
    <p>${c.gone ? "The file was removed from disk since it was loaded." : "The file was changed on disk since it was loaded."} Nothing is saved yet. Undo restores your text in any case.</p>
    ${c.gone ? null : html`<div class="merge"><h3>${both.length ? (both.length === 1 ? "One place was" : both.length + " places were") + " changed on both sides" : "The changes do not conflict"}</h3>
      <div class="chunks" tabindex="0" aria-label="the merged text">${chunks.map((k, i) => k.conflict ? html`<fieldset key=${i} class="chunk"><legend>Both sides changed this. Original:</legend><pre class="base" tabindex="0" aria-label="original">${lines(k.base)}</pre><div class="sides">${pick(i, "mine", "Here", k.mine)}${pick(i, "theirs", "On the disk", k.theirs)}</div>
        <label><input type="radio" name=${"chunk" + i} checked=${choices[i] === "both"} onChange=${() => set({ ...choices, [i]: "both" })} /> both, one after the other</label></fieldset>` : html`<pre key=${i} class="same">${far(k.text)}</pre>`)}</div></div>`}
    <footer><button onClick=${close}>Cancel</button><span class="space"></span>
      ${c.gone ? null : html`<button onClick=${() => save("theirs", c.digest)}>Use the version on disk</button>`}
      <button onClick=${() => save("mine", c.digest)}>${c.gone ? "Save it again" : "Overwrite with mine"}</button>
      ${c.gone ? null : html`<button class="main" disabled=${open.length > 0} onClick=${() => saveMerged(text, c.digest)}>${open.length ? "Choose " + open.length + " more" : "Save both changes"}</button>`}</footer></${Dialog}>`;
}
