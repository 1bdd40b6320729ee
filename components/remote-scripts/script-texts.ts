import { readFileSync } from "node:fs";
import { join } from "node:path";

/*
 * Scripts in the folders next to the modules. Scripts that run once are sent and stored without
 * comments, because comments are a third of their compressed size. Programs that are installed on
 * machines keep their comments, for people who read them there.
 */

const comment = /^[ \t]*#/;
/**
 * Pattern of the beginning of a here-document. The group is the word that ends it. `<<<` does not
 * begin a here-document.
 */
const document = /(?<!<)<<(?!<)-?['"]?(\w+)/;

/**
 * Returns the script without its comment lines. Lines in here-documents are kept, because they are
 * text and not comments.
 */
export function removeComments(script: string): string {
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

const factor = readFileSync(join(__dirname, "scripts/timeout-factor.sh"), "utf8");

/**
 * Returns a function that reads a program for machines. The program consists of timeout-factor.sh,
 * which sets the machine's timeout factor, and of files in `folder`. The files keep their comments.
 */
export const createProgramReader =
  (folder: string) =>
  (...paths: readonly string[]): string =>
    ["#!/bin/bash", factor, ...paths.map((path) => readFileSync(join(folder, path), "utf8"))].join(
      "\n",
    );

/**
 * Returns a function that reads a script without its comments, for scripts that run once. The
 * argument of the function is a path in `folder`.
 */
export const createScriptReader =
  (folder: string) =>
  (path: string): string =>
    removeComments(readFileSync(join(folder, path), "utf8"));
