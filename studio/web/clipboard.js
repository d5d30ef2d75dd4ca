// clipboard.js copies resources as text of the file's language, so that they can be pasted here,
// in another file, or in an editor.
import { doc, resources, selected, pickedInOrder, edit, say } from "/store.js";
import { remove } from "/list.js";

const word = /^[A-Za-z_/.][\w/.@%+-]*$/, reads = /^(true|false|null|yes|no|on|off|y|n|~)$/i;
const scalar = v => typeof v === "string" ? (word.test(v) && !reads.test(v) ? v : JSON.stringify(v)) : JSON.stringify(v);

function yamlValue(v, indent) {
  if (typeof v === "string" && v.includes("\n") && !/\r|\t$|^ |[^\S\n]\n/.test(v) && v.trim() !== "") {
    const body = v.replace(/\n+$/, ""), end = v.length - body.length;
    return "|" + (end === 0 ? "-" : end === 1 ? "" : "+") + "\n" + v.replace(/\n$/, "").split("\n").map(l => l ? indent + l : l).join("\n");
  }
  if (Array.isArray(v)) return "[" + v.map(x => typeof x === "object" ? JSON.stringify(x) : scalar(x)).join(", ") + "]";
  return v && typeof v === "object" ? JSON.stringify(v) : scalar(v);
}

export function asYAML(rs) {
  return rs.map(r => {
    const props = Object.entries(r.props ?? {});
    return `- ${r.type}:\n    - ${scalar(r.name)}:${props.length ? "\n" + props.map(([k, v]) => `        ${k}: ${yamlValue(v, "          ")}`).join("\n") : " {}"}\n`;
  }).join("");
}

function luaString(s) {
  if (s.includes("\n") && !s.includes("\r")) { let eq = ""; while (s.includes("]" + eq + "]")) eq += "="; return `[${eq}[\n${s}]${eq}]`; }
  return '"' + s.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/[\0-\x1f\x7f]/g, c => "\\" + String(c.charCodeAt(0)).padStart(3, "0")) + '"';
}
function luaValue(v) {
  if (typeof v === "string") return luaString(v);
  if (Array.isArray(v)) return "{ " + v.map(luaValue).join(", ") + " }";
  if (v && typeof v === "object") return "{ " + Object.entries(v).map(([k, x]) => (/^[A-Za-z_]\w*$/.test(k) ? k : "[" + luaString(k) + "]") + " = " + luaValue(x)).join(", ") + " }";
  return v === null ? "nil" : String(v);
}

export function asLua(rs) {
  return rs.map(r => {
    const fx = new Map((r.expressions ?? []).map(e => [e.property, e.text]));
    const props = Object.entries(r.props ?? {}).map(([k, v]) => `  ${k} = ${fx.get(k) ?? luaValue(v)},\n`).join("");
    return props ? `${r.type} {\n  ${luaString(r.name)},\n${props}}\n` : `${r.type} ${luaString(r.name)}\n`;
  }).join("\n");
}

// copied answers Ctrl+C and Ctrl+X in the list.
export function copied(e, cut) {
  const keys = new Set(pickedInOrder()), rs = resources.value.filter(r => keys.has(r.key));
  if (!rs.length) return;
  e.clipboardData.setData("text/plain", doc.value.language === "lua" ? asLua(rs) : asYAML(rs));
  e.preventDefault();
  say((cut ? "cut " : "copied ") + rs.length);
  if (cut) remove();
}

// pasted answers Ctrl+V outside of fields: behind the selected resource.
export function pasted(e) {
  const text = e.clipboardData.getData("text/plain");
  if (!text.trim()) return;
  e.preventDefault();
  const rs = resources.value, i = rs.findIndex(r => r.key === selected.value);
  edit({ op: "paste", text, at: i >= 0 ? rs[i + 1]?.key : undefined }).then(ok => ok && say("pasted"));
}
