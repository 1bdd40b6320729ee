// Changes of paths that text mentions: strings, comments, documents, settings.
import { posix } from "node:path";
import ts from "typescript";
import { tops } from "./moves.mjs";

const run = /[\w@./-]+/g;
/** The same in a regular expression, which has `\/` and `\.`. */
const escapedRun = /(?:[\w@-]|\\[./])+/g;
const ending = /\.(ts|js|mjs|cjs|sh|json|jsonl|yaml|md|py|txt|go|svg|cfg|conf)$/;
const top = new RegExp(`^(${tops.join("|")})(/|$)`);

/** Parts of a text in which a mention may stand. */
function parts(file, text, source) {
  if (source) return codeParts(text, source);
  if (!/\.(sh|py|go)$/.test(file)) return [{ start: 0, end: text.length, kind: "prose" }];
  return [...text.matchAll(/^[ \t]*(#|\/\/).*$/gm)].map(({ index, 0: line }) => ({
    ...{ start: index, end: index + line.length, kind: "prose" },
  }));
}

function codeParts(text, source) {
  const found = new Map();
  const add = (start, end, kind) => found.set(start, { start, end, kind });
  /** Titles of tests keep the short names: records of what ran have them. */
  const isTitle = ({ parent }) =>
    ts.isCallExpression(parent) && /^(describe|it)$/.test(parent.expression.getText(source));
  const visit = (node) => {
    for (const list of [
      ts.getLeadingCommentRanges(text, node.getFullStart()),
      ts.getTrailingCommentRanges(text, node.getEnd()),
    ])
      for (const { pos, end } of list ?? []) add(pos, end, "prose");
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && !isTitle(node)) add(node.getStart(source), node.getEnd(), "string");
    else if (ts.isRegularExpressionLiteral(node))
      add(node.getStart(source), node.getEnd(), "expression");
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return [...found.values()];
}

/** Returns the new text of a word; undefined if it is no mention of what moves. */
function after(word, kind, file, places) {
  // The label of an image, whose digest a machine's cache has.
  if (word === "lab/kubernetes/programs/") return undefined;
  const prefix = /^(\.\/|dist\/|\/([\w.-]+\/)*?(?=(tools|bench|toolchain|lab)\/))/.exec(word);
  const rest = word.slice(prefix?.[0].length ?? 0);
  const path = rest.replace(/\/$/, "");
  const slash = rest.endsWith("/") ? "/" : "";
  if (top.test(path)) {
    const isFile = places.fileOf(path) !== undefined && (ending.test(path) || path.includes("/"));
    const isFolder =
      places.dirs.has(path) && (path.includes("/") || slash !== "") && (!prefix || word[0] === ".");
    if (isFile || (isFolder && kind === "prose") || (isFolder && slash && path.includes("/")))
      return (prefix?.[0] ?? "") + places.pathAfter(path) + slash;
  }
  // Documents name tests without the folder of all tests.
  const test = `test/${path}`;
  if (file.endsWith(".md") && ending.test(path) && places.moves.has(test))
    return places.fileAfter(test).replace(/^test\//, "");
  const target = posix.join(posix.dirname(file), path);
  const isPath = path.includes("/") || file.endsWith(".md");
  if (!isPath || (!ending.test(path) && !file.endsWith(".md")) || target.startsWith(".."))
    return undefined;
  if (!places.files.has(target) && !(path.startsWith("..") && places.dirs.has(target)))
    return undefined;
  const here = posix.dirname(places.fileAfter(file));
  const to = posix.relative(here, places.pathAfter(target));
  // Prose names the files of its own folder without a path.
  return (word.startsWith("./") && !to.startsWith(".") ? "./" : "") + to + slash;
}

/** Returns the changes of a text's mentions outside of spans that are changed already. */
export function mentionEdits(file, text, places, { source, taken = [] } = {}) {
  const edits = [];
  for (const { start, end, kind } of parts(file, text, source))
    for (const match of text.slice(start, end).matchAll(kind === "expression" ? escapedRun : run)) {
      const written = match[0].replace(/\\?[.-]+$/, "");
      const word = kind === "expression" ? written.replaceAll("\\", "") : written;
      const at = start + match.index;
      if (taken.some((one) => at < one.end && one.start < at + written.length)) continue;
      const to = after(word, kind, file, places);
      if (to === undefined || to === word) continue;
      const result = kind === "expression" ? to.replace(/[./]/g, "\\$&") : to;
      edits.push({ start: at, end: at + written.length, text: result });
    }
  return edits;
}
