import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const root = join(__dirname, "../..");

export interface Source {
  /** Path relative to the repository's root. */
  readonly path: string;
  readonly text: string;
}

/** Returns all files with one of these endings in folders of the repository. */
export const sourcesIn = (folders: readonly string[], ending: RegExp): readonly Source[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && ending.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({ path: relative(root, file), text: readFileSync(file, "utf8") })),
  );

/**
 * Returns the strings of a source file. In TypeScript, these are all string literals except import
 * paths. In a shell script, these are all lines except comments.
 */
export function stringsIn({ path, text }: Source): readonly string[] {
  if (!path.endsWith(".ts"))
    return text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    )
      found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}
