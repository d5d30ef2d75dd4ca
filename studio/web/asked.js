// asked.js keeps the edits that were asked for and not answered. Forms show them already, so that
// a second edit of a list begins with the first one; they follow a rename before them, and they
// survive the page.
import { signal } from "/vendor/ui.js";
import { atRest } from "/pointer.js";

let list = [];
const shown = signal(list);

// digest tells texts apart (FNV-1a): a text of a large site is too much to be stored with each edit.
function digest(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return text.length + "." + (h >>> 0);
}

function changed(file, text) {
  const ops = list.filter(o => o.file === file);
  try { if (ops.length) sessionStorage["asked:" + file] = JSON.stringify({ base: digest(text), ops }); else sessionStorage.removeItem("asked:" + file); } catch { } // it is too large
  atRest(() => shown.value = list);
}

// ask notes an edit of a file with the text that the server has; answered takes it out again.
export function ask(op, text) { list = [...list, op]; changed(op.file, text); return op; }
export function answered(op, text) { list = list.filter(o => o !== op); changed(op.file, text); }

// renamed has the edits that were asked for meanwhile be about the new key.
export function renamed(file, from, to) {
  const now = key => key === from ? to : key;
  for (const o of list) if (o.file === file) {
    if (o.resource) o.resource = now(o.resource);
    if (o.resources) o.resources = o.resources.map(now);
    if (o.at) o.at = now(o.at);
  }
  shown.value = [...list];
}

// withAsked is a resource of a file as it will be.
export function withAsked(r) {
  for (const o of shown.value) if (r && o.resource === r.key && o.file === r.file && o.property && o.expression === undefined) {
    const props = { ...r.props };
    if (o.op === "set") props[o.property] = o.value; else if (o.op === "unset") delete props[o.property];
    r = { ...r, props };
  }
  return r;
}

// isAsked is whether a resource with this ID is about to be added.
export const isAsked = id => list.some(o => o.op === "add" && o.type + "#" + o.name === id);

// left takes out what an earlier page of this tab has asked for and got no answer to. Where the
// text became another, the server may have done the first: then only what can be done twice is left.
export function left(file, text) {
  try {
    const { base, ops } = JSON.parse(sessionStorage["asked:" + file]);
    sessionStorage.removeItem("asked:" + file);
    return base === digest(text) ? ops : ops.filter(o => o.op === "set" || o.op === "unset");
  } catch { return []; }
}
