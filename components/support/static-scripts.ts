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

const factor = readFileSync(join(__dirname, "scripts/factor.sh"), "utf8");

/**
 * Returns a program that is installed on machines, with its comments: it is made of files, by their paths from a folder, and its bounds
 * follow the machine's factor.
 */
export const programOf =
  (folder: string) =>
  (...paths: readonly string[]): string =>
    ["#!/bin/bash", factor, ...paths.map((path) => readFileSync(join(folder, path), "utf8"))].join(
      "\n",
    );

/** Reads scripts that run once, by their paths from a folder. */
export const scriptsBeside =
  (folder: string) =>
  (path: string): string =>
    withoutComments(readFileSync(join(folder, path), "utf8"));
