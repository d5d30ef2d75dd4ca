// complete.js offers in the text what may be written there: types, properties, values,
// resources, and what this machine has.
import { doc, types, resources } from "/store.js";
import { get } from "/api.js";
import { extra, machineKinds } from "/schema.js";

const relation = /^(require|subscribe|notify|before)$/;
const words = s => (s || "").replace(/\s+/g, " ");

// at returns the resource that a line of the text belongs to.
function at(line) {
  let found = null;
  for (const r of resources.value) if (r.file === doc.value.file && r.line <= line) found = r;
  return found;
}

const typeOptions = lua => types.value.groups.flatMap(g => g.types).map(t => ({ label: t.name, detail: t.short, apply: lua ? undefined : t.name + ":", type: "class" }));

export async function completions(ctx) {
  const lua = doc.value.language === "lua";
  if (!["yaml", "lua"].includes(doc.value.language) || !["manifest", "script", "module"].includes(doc.value.kind)) return null;
  const line = ctx.state.doc.lineAt(ctx.pos), before = line.text.slice(0, ctx.pos - line.from);
  const r = at(line.number), schema = r && types.value.$defs[r.type]?.properties;

  // the value of a property
  const v = before.match(lua ? /(\w+)\s*=\s*\{?\s*(?:"[^"]*",\s*)*"?([^"={},]*)$/ : /^\s*(?:- )?(\w+):\s*(?:\[(?:[^\],]*,)*)?\s*"?([^"\]]*)$/);
  const s = v && schema?.[v[1]];
  if (s) {
    const from = ctx.pos - v[2].length, quoted = lua && !/"[^"]*$/.test(before);
    const option = (label, detail) => ({ label, detail, apply: quoted && !/^(true|false|\d+)$/.test(label) ? JSON.stringify(label) : label });
    if (relation.test(v[1])) return { from, options: resources.value.map(x => option(x.id)), validFor: /^[^"\],]*$/ };
    if (s.enum) return { from, options: s.enum.map(x => option(x, x === s.default ? "default" : "")) };
    if (s.type === "boolean") return { from, options: [option("true"), option("false")] };
    const kind = extra(s).kind;
    if (machineKinds.has(kind)) {
      const { items } = await get("/api/complete", { what: kind, prefix: v[2], file: doc.value.file, type: r.type, property: v[1] });
      return { from, options: items.map(i => option(i.text, i.detail)) };
    }
    return null;
  }

  const word = ctx.matchBefore(/[\w.]*/);
  if (!ctx.explicit && word.text.length < 1) return null;
  // a type: at the begin of a line of Lua, or as an item of the resources
  if (lua ? /^\s*[\w.]*$/.test(before) && !/^\s+/.test(before) : /^\s{0,4}- \w*$/.test(before)) return { from: word.from, options: typeOptions(lua) };
  // a property of the resource
  if (schema && (lua ? /[{,]\s*\w*$|^\s*\w*$/ : /^\s*(- )?\w*$/).test(before))
    return { from: word.from, options: Object.entries(schema).filter(([, p]) => !extra(p).alias_of).map(([n, p]) => ({ label: n, type: "property", apply: lua ? n + " = " : n + ": ", detail: p.enum ? p.enum.join(" | ") : p.type, info: words(p.description) })) };
  return null;
}
