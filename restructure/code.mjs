// Changes of import paths and of paths that code builds, by the syntax tree.
import { posix } from "node:path";
import ts from "typescript";

const joins = new Set(["join", "resolve"]);
const isText = (node) => node !== undefined && ts.isStringLiteralLike(node);
const nameOf = (node) =>
  ts.isIdentifier(node) ? node.text : ts.isPropertyAccessExpression(node) ? node.name.text : "";

const relativeImport = (from, to) => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
};

/** Returns the string literals of a file that are the path of a module. */
function moduleTexts(source) {
  const found = [];
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      found.push(node.moduleSpecifier);
    else if (ts.isImportTypeNode(node)) found.push(node.argument.literal);
    else if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const loads =
        callee.kind === ts.SyntaxKind.ImportKeyword ||
        nameOf(callee) === "require" ||
        callee.getText(source) === "require.resolve" ||
        (ts.isCallExpression(callee) && nameOf(callee.expression) === "createRequire");
      if (loads && isText(node.arguments[0])) found.push(node.arguments[0]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.filter((node) => node && isText(node) && /^\.\.?(\/|$)/.test(node.text));
}

/** Paths that a file builds from `__dirname`, and the changes of them. */
class BuiltPaths {
  /** Value of a constant before and after the move. */
  values = new Map();
  /** Folder from which a function of one path reads. */
  readers = new Map();
  /** Folders to which the file joins names that are not literals. */
  folders = [];
  edits = [];

  constructor(source, file, places) {
    Object.assign(this, { source, file, places });
    this.here = { old: posix.dirname(file), new: posix.dirname(places.fileAfter(file)) };
    this.#visit(source, (node) => this.#declare(node));
    this.#visit(source, (node) => this.#call(node));
  }

  #visit(node, act) {
    act(node);
    ts.forEachChild(node, (child) => this.#visit(child, act));
  }

  /** Returns the path that an expression stands for; undefined if it is none of the repository. */
  value(node) {
    const text = node.getText(this.source);
    if (text === "__dirname" || text === "import.meta.dirname") return this.here;
    if (text === "dirname(fileURLToPath(import.meta.url))") return this.here;
    if (text === "packageRoot()") return { old: "", new: "" };
    if (ts.isIdentifier(node)) return this.values.get(node.text);
    if (ts.isCallExpression(node) && joins.has(nameOf(node.expression))) {
      const target = this.#target(node);
      return target?.rest === 0 ? target : undefined;
    }
    return undefined;
  }

  /** Returns the path of `join(base, "a", "b", ...rest)` without the rest. */
  #target(call) {
    const [first, ...others] = call.arguments;
    const base = first && this.value(first);
    if (base === undefined) return undefined;
    const end = others.findIndex((node) => !isText(node));
    const texts = end < 0 ? others : others.slice(0, end);
    const old = posix.join(base.old, ...texts.map(({ text }) => text)).replace(/^\.$/, "");
    const after = this.places.pathAfter(old);
    return { base, texts, old, new: after, rest: others.length - texts.length, next: others[end] };
  }

  #declare(node) {
    const isFunction = ts.isFunctionDeclaration(node);
    if (!isFunction && !(ts.isVariableDeclaration(node) && node.initializer)) return;
    if (!node.name || !ts.isIdentifier(node.name)) return;
    const name = node.name.text;
    const value = isFunction ? undefined : this.value(node.initializer);
    if (value) {
      this.values.set(name, value);
      this.folders.push(value);
      return;
    }
    const base = isFunction ? undefined : this.#boundFolder(node.initializer);
    if (base) this.readers.set(name, base);
    const body = isFunction ? node : node.initializer;
    if (ts.isFunctionLike(body)) {
      const parameters = body.parameters.map((one) => one.name.getText(this.source));
      this.#visit(body, (inner) => {
        if (!ts.isCallExpression(inner) || !joins.has(nameOf(inner.expression))) return;
        const target = this.#target(inner);
        const next = target?.next?.getText(this.source).replace(/^\.\.\./, "");
        if (parameters.includes(next)) this.readers.set(name, target);
      });
    }
  }

  /** Returns the folder in `scriptsBeside(folder)`: the result reads from it. */
  #boundFolder(node) {
    if (!ts.isCallExpression(node) || node.arguments.length !== 1) return undefined;
    if (joins.has(nameOf(node.expression)) || nameOf(node.expression) === "dirname")
      return undefined;
    return this.value(node.arguments[0]);
  }

  #call(node) {
    if (!ts.isCallExpression(node)) return;
    if (joins.has(nameOf(node.expression))) this.#changeJoin(node);
    const callee = node.expression;
    const base = ts.isIdentifier(callee)
      ? this.readers.get(callee.text)
      : this.#boundFolder(callee);
    if (base) for (const argument of node.arguments) this.#changeRead(argument, base);
  }

  #changeRead(node, base) {
    if (!isText(node)) return;
    const old = posix.join(base.old, node.text);
    if (!this.places.files.has(old) || base.new === undefined) return;
    this.#replace(node, node, [posix.relative(base.new, this.places.fileAfter(old))]);
  }

  #changeJoin(node) {
    const target = this.#target(node);
    if (target === undefined) return;
    if (target.rest > 0) this.folders.push(target);
    const { base, texts, next } = target;
    if (next !== undefined && ts.isTemplateExpression(next))
      this.#changeTemplate(base, texts, next);
    if (texts.length === 0) return;
    if (target.new === undefined || base.new === undefined) {
      this.edits.push({ problem: `${this.file}: ${node.getText(this.source)}` });
      return;
    }
    const path = posix.relative(base.new || ".", target.new || ".");
    const was = texts.map(({ text }) => text);
    if (posix.join(...was) === path) return;
    const isSplit = was.length > 1 && was.includes("..");
    const parts = isSplit ? path.split("/") : [path];
    this.#replace(texts[0], texts.at(-1), parts);
  }

  #changeTemplate(base, texts, { head }) {
    const [path] = /^.*\//.exec(head.text) ?? [""];
    if (path === "" || texts.length > 0) return;
    const after = this.places.pathAfter(posix.join(base.old, path).replace(/\/$/, ""));
    if (after === undefined) return;
    const to = `${posix.relative(base.new, after)}/`;
    const start = head.getStart(this.source) + 1;
    this.edits.push({ start, end: start + path.length, text: to });
  }

  #replace(first, last, parts) {
    const [start, end] = [first.getStart(this.source), last.getEnd()];
    const text = parts.map((part) => JSON.stringify(part)).join(", ");
    this.edits.push({ start, end, text });
  }
}

/** Returns the changes of a file's imports and built paths, and what it reads from where. */
export function codeEdits(file, text, places) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const edits = [];
  for (const node of moduleTexts(source)) {
    const old = posix.join(posix.dirname(file), node.text);
    const to = places.pathAfter(old);
    const [start, end] = [node.getStart(source) + 1, node.getEnd() - 1];
    if (!places.fileOf(old)) edits.push({ start, end, text: node.text, missing: node.text });
    else edits.push({ start, end, text: relativeImport(places.fileAfter(file), to) });
  }
  const built = new BuiltPaths(source, file, places);
  return { edits: [...edits, ...built.edits], folders: built.folders, source };
}
