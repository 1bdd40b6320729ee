// Replaces `...{ a, b }` inside object literals by `a, b`. Run in the repository's root.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
const require = createRequire(join(process.cwd(), "package.json"));
const ts = require("typescript");
const prettier = require("prettier");
const files = execFileSync("git", ["ls-files", "*.ts", "*.mjs"], { encoding: "utf8" }).trim().split("\n");
let count = 0, changed = 0;
for (const file of files) {
  let text = readFileSync(file, "utf8");
  const before = text;
  for (;;) {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const edits = [];
    const visit = (node) => {
      if (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression) && ts.isObjectLiteralExpression(node.parent)) {
        const inner = node.expression;
        const body = text.slice(inner.getStart(source) + 1, inner.end - 1).trim().replace(/,$/, "");
        edits.push([node.getStart(source), node.end, body]);
        return;
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    if (edits.length === 0) break;
    count += edits.length;
    for (const [start, end, body] of edits.reverse()) {
      let e = end;
      if (body === "" ) { const m = /^\s*,/.exec(text.slice(end)); if (m) e += m[0].length; }
      text = text.slice(0, start) + body + text.slice(e);
    }
  }
  if (text === before) continue;
  changed++;
  writeFileSync(file, await prettier.format(text, { ...(await prettier.resolveConfig(file)), filepath: file }));
}
console.log(count, "spreads,", changed, "files");
