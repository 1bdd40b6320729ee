// Changes of paths that text mentions: strings, comments, documents, settings.
import { posix } from "node:path";
import ts from "typescript";

/** Folders to which people write paths relatively, besides the root and the file's own folder. */
const bases = ["components", "automation", "test", "cloud"];
const run = /[\w@./-]+/g;
/** The same in a regular expression, which has `\/` and `\.`. */
const escapedRun = /(?:[\w@-]|\\[./])+/g;
const withoutTop = (path) => path.replace(/^(components|automation|test|openstack)\//, "");
const ending = /\.(ts|js|mjs|cjs|sh|json|jsonl|yaml|md|py|txt)$/;

/** Parts of a text in which a mention may stand. `isTitle`: names without a folder count, too. */
export function parts(file, text, source) {
  if (source) return codeParts(text, source);
  if (!file.endsWith(".sh")) return [{ start: 0, end: text.length, kind: "prose" }];
  return [...text.matchAll(/^[ \t]*#.*$/gm)].map(({ index, 0: line }) => ({
    ...{ start: index, end: index + line.length, kind: "prose" },
  }));
}

function codeParts(text, source) {
  const found = new Map();
  const add = (start, end, kind) => found.set(start, { start, end, kind });
  const comments = (node) => {
    for (const list of [
      ts.getLeadingCommentRanges(text, node.getFullStart()),
      ts.getTrailingCommentRanges(text, node.getEnd()),
    ])
      for (const { pos, end } of list ?? []) add(pos, end, "prose");
  };
  const isTitle = ({ parent }) =>
    ts.isCallExpression(parent) && /^(describe|it)$/.test(parent.expression.getText(source));
  const visit = (node) => {
    comments(node);
    if (ts.isStringLiteralLike(node))
      add(node.getStart(source), node.getEnd(), isTitle(node) ? "prose" : "string");
    else if (ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      add(node.getStart(source), node.getEnd(), isTitle(node.parent) ? "prose" : "string");
    else if (ts.isRegularExpressionLiteral(node))
      add(node.getStart(source), node.getEnd(), "expression");
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return [...found.values()];
}

/** Finds what the words of one file mention, and writes it as it is after the move. */
export class Mentions {
  constructor(file, places, folders) {
    Object.assign(this, { file, places });
    this.here = posix.dirname(file);
    this.hereAfter = posix.dirname(places.fileAfter(file));
    this.folders = folders.filter((one) => one.new !== undefined);
  }

  /** Returns the new text of a word; undefined if it is no mention of what moves. */
  after(word, kind) {
    const path = word.replace(/^\.\//, "");
    const to = path.includes("/") ? this.#pathAfter(word, path, kind) : this.#nameAfter(path, kind);
    if (typeof to !== "string" || !word.startsWith("./") || to.startsWith(".")) return to;
    return `./${to}`;
  }

  #pathAfter(word, path, kind) {
    return (
      this.#rooted(word, kind) ??
      this.#relative(path) ??
      this.#joined(path) ??
      this.#based(path, kind) ??
      this.#ended(word)
    );
  }

  /** Paths from the root, also behind others: `dist/components/...`, `/somewhere/automation/...`. */
  #rooted(word, kind) {
    const prefix =
      /^(\.\/|dist\/|\/([\w.-]+\/)*?(?=(automation|base|cloud|components|test)\/))/.exec(word);
    const rest = word.slice(prefix?.[0].length ?? 0);
    const path = rest.replace(/\/$/, "");
    if (!/^(automation|base|cloud|components|test)(\/|$)/.test(path)) return undefined;
    const isFolder = this.places.dirs.has(path) && (path.includes("/") || kind === "prose");
    if (!this.#isFile(path) && (prefix || !isFolder)) return undefined;
    const to = this.places.pathAfter(path);
    if (to === undefined) return { problem: path };
    return (prefix?.[0] ?? "") + to + (word.endsWith("/") ? "/" : "");
  }

  /** A file with its ending, or a module without it. */
  #isFile(path) {
    return this.places.fileOf(path) !== undefined && (ending.test(path) || path.includes("/"));
  }

  #relative(path) {
    const target = posix.join(this.here, path);
    if (!ending.test(path) || this.places.fileOf(target) === undefined) return undefined;
    const to = posix.relative(this.hereAfter, this.places.pathAfter(target));
    if (!to.startsWith("..") || path.startsWith("..")) return to;
    return withoutTop(this.places.pathAfter(target));
  }

  /** Paths from a folder to which the file joins names. */
  #joined(path) {
    for (const { old, new: after } of this.folders) {
      const file = posix.join(old, path);
      if (ending.test(path) && this.places.files.has(file))
        return posix.relative(after, this.places.fileAfter(file));
    }
    return undefined;
  }

  /** Paths without their first folder: `kubeadm/documents.ts`. */
  #based(path, kind) {
    if (!ending.test(path) && kind === "string") return undefined;
    for (const base of bases) {
      const target = `${base}/${path}`;
      if (this.places.fileOf(target) === undefined) continue;
      const to = this.places.pathAfter(target);
      const short = to.startsWith(`${base}/`) ? to.slice(base.length + 1) : to;
      return short;
    }
    return undefined;
  }

  /** The end of the path of one file: `scripts/volumes.sh`. */
  #ended(word) {
    if (!ending.test(word) || /^[./]/.test(word)) return undefined;
    const [file, second] = [...this.places.files].filter((one) => one.endsWith(`/${word}`));
    if (file === undefined || second !== undefined) return undefined;
    return withoutTop(this.places.fileAfter(file));
  }

  /** A file name alone means the nearest file of that name. */
  #nameAfter(name, kind) {
    if (!ending.test(name)) return undefined;
    if (kind === "string") {
      for (const { old, new: after } of this.folders) {
        const file = posix.join(old, name);
        if (!this.places.files.has(file)) continue;
        return posix.relative(after, this.places.fileAfter(file));
      }
      return undefined;
    }
    const file = this.#nearest(name);
    return file && posix.basename(this.places.fileAfter(file));
  }

  #nearest(name) {
    const all = [...this.places.files].filter((file) => posix.basename(file) === name);
    const distance = (file) => {
      const path = posix.relative(this.#source(), posix.dirname(file));
      return path === "" ? 0 : path.split("/").length + (path.startsWith("..") ? 2 : 0);
    };
    const least = Math.min(...all.map(distance));
    const near = all.filter((file) => distance(file) === least);
    if (near.length < 2) return near[0];
    // Scripts of kubeadm/ and etcd/ have equal names; text outside of etcd/ means the former.
    const folder = this.file.includes("etcd") ? "/etcd/" : "/kubeadm/";
    return near.find((file) => file.includes(folder));
  }

  /** Folder of the sources that a test is about. */
  #source() {
    return this.here
      .replace(/^test\/(unit|commands)\//, "")
      .replace(/^test\/scripts.*/, "components");
  }
}

/** Returns the changes of a text's mentions outside of spans that are changed already. */
export function mentionEdits(file, text, places, { source, folders = [], taken = [] } = {}) {
  const mentions = new Mentions(file, places, folders);
  const edits = [];
  const problems = [];
  for (const { start, end, kind } of parts(file, text, source))
    for (const match of text.slice(start, end).matchAll(kind === "expression" ? escapedRun : run)) {
      const written = match[0].replace(/\\?[.-]+$/, "");
      const word = kind === "expression" ? written.replaceAll("\\", "") : written;
      const at = start + match.index;
      if (taken.some((one) => at < one.end && one.start < at + written.length)) continue;
      const to = mentions.after(word, kind);
      if (to === undefined || to === word) continue;
      if (typeof to === "object") problems.push(`${file}: mentions the folder ${to.problem}`);
      else {
        const after = kind === "expression" ? to.replace(/[./]/g, "\\$&") : to;
        edits.push({ start: at, end: at + written.length, text: after });
      }
    }
  return { edits, problems };
}
