// files.js is the tree below the directory. Links are shown, and not followed.
import { html, useRef, useState, signal } from "/vendor/ui.js";
import { files, doc, open, dialog, session } from "/store.js";

const closed = signal(new Set());
const words = { manifest: "manifest", script: "script", module: "module", data: "data", spec: "spec", template: "template", link: "link", directory: "folder", other: "" };

export function Files() {
  const box = useRef();
  const hidden = name => { for (const d of closed.value) if (name.startsWith(d + "/")) return true; return false; };
  const rows = files.value.files.filter(f => !hidden(f.name));
  const flip = name => { const s = new Set(closed.value); if (s.has(name)) s.delete(name); else s.add(name); closed.value = s; };
  const act = f => f.kind === "directory" ? flip(f.name) : f.kind === "link" ? null : open(f.name);
  const keys = e => {
    const items = [...box.current.querySelectorAll("[role=treeitem]")], i = items.indexOf(document.activeElement), f = rows[i];
    const go = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: items.length - 1 }[e.key];
    if (go !== undefined) items[Math.max(0, Math.min(items.length - 1, go))]?.focus();
    else if (f && e.key === "Enter") act(f);
    else if (f?.kind === "directory" && (e.key === "ArrowLeft") !== closed.value.has(f.name) && /Arrow(Left|Right)/.test(e.key)) flip(f.name);
    else return;
    e.preventDefault();
  };
  return html`<div class="files"><div class="filebar"><span class="mono quiet" title=${files.value.directory}>${files.value.directory.split("/").at(-1) || "/"}</span><button class="mini" onClick=${() => dialog.value = { kind: "new" }}>New…</button></div>
    <div class="scroll" ref=${box} role="tree" aria-label="Files" onKeyDown=${keys}>${rows.map((f, i) => {
      const depth = f.name.split("/").length, folder = f.kind === "directory", now = f.name === doc.value?.file;
      return html`<div key=${f.name} role="treeitem" aria-level=${depth} aria-expanded=${folder ? !closed.value.has(f.name) : undefined} aria-selected=${now} aria-disabled=${f.kind === "link" ? true : undefined} tabindex=${now || (!doc.value && i === 0) ? 0 : -1} class=${"leaf " + f.kind + (now ? " now" : "")} style=${{ paddingLeft: 4 + depth * 10 + "px" }} title=${f.name + (f.target ? " links to " + f.target + " (not followed)" : "")} onClick=${() => act(f)}>
        <span class="twist" aria-hidden="true">${folder ? closed.value.has(f.name) ? "▸" : "▾" : ""}</span><span class="what">${f.name.split("/").at(-1)}${folder ? "/" : ""}</span>${f.edited || (now && !doc.value.saved) ? html`<i class="edited" title="not saved"></i><span class="sr">not saved</span>` : null}<small>${words[f.kind] ?? f.kind}</small></div>`;
    })}</div>
    ${files.value.cut ? html`<p class="quiet pad">Not all files are shown.</p>` : null}</div>`;
}
