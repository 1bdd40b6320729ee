import { readFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The scripts in the folders beside the modules. What runs once travels and is kept without its comments, which are a third of it when
 * it is packed; what is installed on a machine keeps them, for whoever looks there.
 */

const comment = /^[ \t]*#/;
/** A document that follows, and the word that ends it; three signs are no document. */
const document = /(?<!<)<<(?!<)-?['"]?(\w+)/;

/** The same script without the lines that are nothing but a comment. In documents such lines are text. */
export function withoutComments(script: string): string {
  let end: string | undefined;
  const isCode = (line: string): boolean => {
    if (end !== undefined) {
      if (line.trim() === end) end = undefined;
      return true;
    }
    if (comment.test(line)) return false;
    [, end] = document.exec(line) ?? [];
    return true;
  };
  return script.split("\n").filter(isCode).join("\n");
}

/** Reads programs as they are, by their paths from a folder. */
export const programsBeside =
  (folder: string) =>
  (path: string): string =>
    readFileSync(join(folder, path), "utf8");

/** Reads scripts that run once, by their paths from a folder. */
export const scriptsBeside =
  (folder: string) =>
  (path: string): string =>
    withoutComments(programsBeside(folder)(path));
