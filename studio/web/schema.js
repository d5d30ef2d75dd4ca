// schema.js reads what the JSON Schema of a type says, and x-ccm at its properties.
import { types } from "/store.js";
import { computed } from "/vendor/ui.js";

export const extra = s => s?.["x-ccm"] ?? {};
export const words = s => (s || "").replace(/\s+/g, " ").trim();
// gloss is what a property is for in a few words, to stand beside its name.
export const gloss = (name, s) => {
  const text = words(s?.description).split(/\.(?:\s|$)/)[0].replace(new RegExp("^" + name + " (is )?"), "");
  return text && text[0].toLowerCase() + text.slice(1);
};
export const first = s => { const m = words(s).match(/^.*?[.:;!?](\s|$)/); return m ? m[0].trim().replace(/[.:;]$/, "") : words(s); };

// kinds of values that are looked up on this machine
export const machineKinds = new Set(["owner", "group", "package", "service", "path", "shell"]);

// hue is the colour of a type, as in drawings and reports.
export const hue = type => rowOf(type)?.hue ?? 0;

const rows = computed(() => new Map(types.value.groups.flatMap(g => g.types).reverse().map(t => [t.name, t])));
export const rowOf = type => rows.value.get(type);

export const relations = ["require", "subscribe", "before", "notify"];

// isTemplate is whether a text of a manifest has an expression in it.
export const isTemplate = v => typeof v === "string" && /\$\{|\{\{/.test(v);

// parts says which properties stand where in a form. stands has the last word on whether one is
// shown among those that are set.
export function parts(type, props, mistakes, stands) {
  const t = types.value.$defs[type];
  if (!t) return { top: [], set: [], order: [], more: [], common: [] };
  const x = n => extra(t.properties[n]);
  const naming = rowOf(type)?.name_property ?? "name";
  const names = Object.keys(t.properties).filter(n => !x(n).alias_of && n !== naming && (n in props || t.properties[n].enum?.length !== 1)).sort((a, b) => (x(a).order ?? 0) - (x(b).order ?? 0));
  const must = new Set(t.required ?? []), wrong = new Set((mistakes ?? []).map(m => m.field));
  const order = relations.filter(n => names.includes(n));
  const attributes = ["owner", "group", "dir_mode" in t.properties ? "dir_mode" : "mode"];
  const usual = n => !order.includes(n) && (must.has(n) || x(n).required || x(n).required_unless || x(n).usual || n === "ensure" || attributes.every(a => names.includes(a)) && attributes.includes(n));
  const top = names.filter(usual);
  const set = names.filter(n => !usual(n) && !order.includes(n) && stands(n, n in props || wrong.has(n)));
  const more = names.filter(n => !top.includes(n) && !set.includes(n) && !order.includes(n));
  return { top, set, order, more: more.filter(n => !x(n).common), common: more.filter(n => x(n).common), must };
}

// fresh is what a new resource of a type begins with: what it has to have.
export function fresh(type) {
  const t = types.value.$defs[type], out = {};
  for (const [n, s] of Object.entries(t?.properties ?? {}).sort(([, a], [, b]) => (extra(a).order ?? 0) - (extra(b).order ?? 0))) {
    const x = extra(s);
    if (x.alias_of || n === rowOf(type)?.name_property || x.common || !(x.required || x.required_unless)) continue;
    const value = x.example ?? s.examples?.[0] ?? s.enum?.[0];
    if (value !== undefined && x.kind !== "path" && x.kind !== "url") out[n] = value;
  }
  return out;
}
