// build.mjs bundles what the page of ccm studio is made with into ../web/vendor, and axe-core
// for the tests. make studio-vendor calls it after npm ci. What it writes depends on the lock
// file alone: a Go test compares the digests of vendor.lock, and needs no npm.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const out = "../web/vendor/", axe = "../../test/browser/testdata/axe.min.js.gz";
const sha256 = b => createHash("sha256").update(b).digest("hex");
const lines = ["# Written by make studio-vendor. npm: name version integrity. file: name sha256, and of what it unpacks to."];

// packages: those of the lock file that are in the bundles, not what only builds or tests
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
const used = Object.entries(lock).filter(([at, p]) => at && !p.optional).map(([at, p]) => ({ at, name: at.replace("node_modules/", ""), ...p }));
for (const p of used) lines.push(`npm ${p.name} ${p.version} ${p.integrity}${p.dev ? " dev" : ""}`);

const pack = (name, js) => {
  const gz = gzipSync(js, { level: 9 });
  gz[9] = 255; // the system on which it was packed: unknown (RFC 1952)
  writeFileSync(name, gz);
  lines.push(`file ${name.replace("../web/vendor/", "").replace("../../", "")} ${sha256(gz)} ${sha256(js)}`);
};
for (const name of ["ui", "cm"])
  pack(out + name + ".js.gz", execFileSync("node_modules/.bin/esbuild", [name + ".entry.js", "--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none"]));
pack(axe, readFileSync("node_modules/axe-core/axe.min.js"));

// licences of what is in the binary: one text for all packages that have the same
const texts = new Map();
for (const p of used.filter(p => !p.dev)) {
  const file = readdirSync(p.at).find(f => /^licen[sc]e/i.test(f));
  if (!file) throw new Error(`${p.name} has no licence`);
  const text = readFileSync(p.at + "/" + file, "utf8").trim();
  texts.set(text, [...(texts.get(text) ?? []), `${p.name} ${p.version} (${p.license})`]);
}
writeFileSync(out + "LICENSES", [...texts].map(([text, names]) => names.join("\n") + "\n\n" + text + "\n").join("\n" + "-".repeat(72) + "\n\n"));
lines.push(`file LICENSES ${sha256(readFileSync(out + "LICENSES"))}`);
writeFileSync(out + "vendor.lock", lines.join("\n") + "\n");
