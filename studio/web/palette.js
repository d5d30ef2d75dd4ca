// palette.js shows the types, to add a resource of: by click, by Enter, or by dragging one into
// the list.
import { html, useState, useRef } from "/vendor/ui.js";
import { types, resources, selected, edit, say } from "/store.js";
import { isAsked } from "/asked.js";
import { first, words, rowOf, fresh } from "/schema.js";

// The built in types by what they are about. What is not named here comes under its group of
// the server.
const about = [
  ["Files", ["file", "directory", "link", "archive", "scaffold", "git"]],
  ["Lines in files", ["line", "block", "replace", "ini", "kv", "json_setting", "yaml_setting", "toml_setting"]],
  ["Software", ["package", "language_package", "package_key", "apt_repo", "yum_repo", "zypper_repo", "alternative"]],
  ["Services", ["service", "unit", "timer", "cron", "wait_for"]],
  ["Accounts", ["user", "group", "authorized_key", "known_host"]],
  ["Commands", ["exec", "apply"]],
  ["System", ["hostname", "host", "timezone", "locale", "mount", "sysctl", "kernel_module", "firewall", "selinux_boolean", "selinux_context"]],
];

// also are words by which people look for a type who do not know its name.
const also = {
  file: "text config configuration page copy upload", directory: "folder", link: "symlink shortcut alias", archive: "zip tar unpack download", git: "clone checkout repository source code",
  package: "install software program application web server database apt", service: "daemon server boot start restart", timer: "schedule regularly", cron: "schedule regularly",
  user: "account login person", authorized_key: "ssh login", exec: "command run script shell program certificate once", line: "text config", mount: "disk drive share", firewall: "port open block network",
  host: "dns address name", hostname: "name", timezone: "clock", locale: "language",
};

function groupsOf() {
  const known = new Set(types.value.groups.filter((g, i) => i < 2).flatMap(g => g.types.map(t => t.name)));
  const rows = new Map(types.value.groups.flatMap(g => g.types).map(t => [t.name, t])), placed = new Set();
  const out = [];
  for (const [title, names] of about) {
    const here = names.filter(n => rows.has(n) && known.has(n));
    here.forEach(n => placed.add(n));
    out.push([title, here.map(n => rows.get(n))]);
  }
  for (const g of types.value.groups) out.push([g.title === "Built in" || g.title === "Standard library" ? "More" : g.title, g.types.filter(t => !placed.has(t.name))]);
  return out.filter(([, ts]) => ts.length);
}

// add puts a new resource behind the selected one, or before the one with the key at.
export async function add(type, at, called) {
  const rs = resources.value, row = rowOf(type);
  if (at === undefined) {
    const i = rs.findIndex(r => r.key === selected.value);
    at = i >= 0 && i + 1 < rs.length ? rs[i + 1].key : "";
  }
  let base = called || row?.example || (/^(file|directory|link)$/.test(type) ? "/etc/example" : "example"), name = base, n = 2;
  while (rs.some(r => r.id === type + "#" + name) || isAsked(type + "#" + name)) name = base.replace(/(\.\w+)?$/, "-" + n++ + "$1");
  if (await edit({ op: "add", type, name, props: row?.new ?? fresh(type), at: at || undefined })) say("added " + type);
}

export function Palette() {
  const [q, setQ] = useState(""), box = useRef();
  const ask = q.toLowerCase().trim(), rank = n => ask ? (n === ask) * 8 + n.startsWith(ask) * 4 + n.includes(ask) * 2 + (also[n] ?? "").includes(ask) : 0;
  const groups = groupsOf().map(([g, ts]) => [g, ts.filter(t => (t.name + " " + words(t.short) + " " + (also[t.name] ?? "")).toLowerCase().includes(ask)).sort((a, b) => rank(b.name) - rank(a.name))]).filter(([, ts]) => ts.length);
  if (ask) groups.sort((a, b) => rank(b[1][0].name) - rank(a[1][0].name));
  const keys = e => {
    const items = [...box.current.querySelectorAll("input,button")], i = items.indexOf(document.activeElement);
    const go = { ArrowDown: i + 1, ArrowUp: i - 1, PageDown: i + 8, PageUp: i - 8, End: items.length - 1, Home: document.activeElement.tagName === "INPUT" ? undefined : 0 }[e.key];
    if (e.key === "Enter" && document.activeElement.tagName === "INPUT" && items[1]) { items[1].click(); e.preventDefault(); }
    if (go === undefined) return;
    items[Math.max(0, Math.min(items.length - 1, go))].focus();
    e.preventDefault();
  };
  return html`<div class="palette" ref=${box} onKeyDown=${keys}>
    <input type="search" placeholder="Find a type" aria-label="Find a type" value=${q} onInput=${e => setQ(e.target.value)} />
    <div class="scroll" tabindex="-1">${groups.map(([g, ts]) => html`<section key=${g} aria-label=${g}><h3>${g}</h3>${ts.map(t => html`
      <button key=${t.name} class="type" draggable="true" tabindex="-1" title=${words(t.short) + (t.module ? "\nModule " + t.module : "")} onClick=${() => add(t.name)}
        onDragStart=${e => { e.dataTransfer.setData("text/ccm-type", t.name); e.dataTransfer.effectAllowed = "copy"; }}>
        <span class="dot" style=${{ "--h": t.hue }}></span><span><b>${t.name}</b>${ask ? html`<small>${first(t.short)}</small>` : null}</span><i aria-hidden="true">+</i></button>`)}</section>`)}
      ${groups.length ? null : html`<p class="quiet pad">No matching type. To install something use <button class="link" onClick=${() => add("package")}>package</button>, for a daemon <button class="link" onClick=${() => add("service")}>service</button>, and to run a command <button class="link" onClick=${() => add("exec")}>exec</button>.</p>`}
    </div></div>`;
}
