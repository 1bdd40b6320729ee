import { basename, resolve } from "node:path";

/**
 * Returns the root folder of this package, both from the sources and from the compiled files in
 * dist.
 */
export function getPackageRoot(): string {
  const compiled = resolve(__dirname, "..", "..");
  return basename(compiled) === "dist" ? resolve(compiled, "..") : __dirname;
}
