/** Check of the built site: every link and anchor leads to something that exists. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const origin = "http://site.invalid";

const matches = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&"));

/** Returns the dead links of the HTML files in a directory, as `page: link`. */
export function findDeadLinks(directory: string, base: string): string[] {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const present = new Set(files);
  const pages = files.filter((file) => file.endsWith(".html"));
  const html = new Map(pages.map((page) => [page, readFileSync(join(directory, page), "utf8")]));
  const anchors = new Map(
    [...html].map(([page, text]) => [page, new Set(matches(text, /\sid="([^"]+)"/g))]),
  );
  const isDead = (page: string, link: string): boolean => {
    const url = new URL(link, `${origin}${base}${page}`);
    if (url.origin !== origin) return false;
    if (!url.pathname.startsWith(base)) return true;
    const path = decodeURIComponent(url.pathname.slice(base.length));
    const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
    const anchor = decodeURIComponent(url.hash.slice(1));
    return !present.has(file) || (anchor !== "" && anchors.get(file)?.has(anchor) !== true);
  };
  return [...html].flatMap(([page, text]) =>
    [...new Set(matches(text, /\s(?:href|src)="([^"]+)"/g))]
      .filter((link) => isDead(page, link))
      .map((link) => `${page}: ${link}`),
  );
}
