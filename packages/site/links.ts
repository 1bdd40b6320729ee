/** Links of the Markdown files, which lead to files of the repository. */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";
import { isPage, picturesFolder, root, routeOf } from "./pages.js";

/** Returns the path of the file that is rendered, relative to the repository. */
export const sourceOf = ({ realPath, path }: MarkdownEnv): string =>
  posix.relative(root, realPath ?? path);

/**
 * Returns the target of a link in the site: a page or a picture. Other files are not in the site:
 * the link leads to the repository, or is undefined if the address of the repository is unknown.
 *
 * @param from file with the link, relative to the repository
 * @param repository web address of the repository
 */
export function resolveLink(href: string, from: string, repository?: string): string | undefined {
  if (/^([a-z][a-z\d+.-]*:|#)/i.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = posix.join(posix.dirname(from), decodeURI(path));
  if (!existsSync(join(root, file))) throw new Error(`${from}: ${href}: there is no ${file}`);
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const page = [file, posix.join(file, "README.md")].find(isPage);
  if (page !== undefined) return `/${routeOf(page)}${hash}`;
  if (file.startsWith(`${picturesFolder}/`)) return `/${file}`;
  return repository === undefined ? undefined : `${repository}/blob/HEAD/${file}${hash}`;
}

type State = Parameters<Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1]>[0];
type Token = State["tokens"][number];

/** Replaces the targets of links. Removes a link without a target, and keeps its text. */
function replaceTargets(tokens: readonly Token[], resolve: (href: string) => string | undefined) {
  let target: string | undefined;
  for (const token of tokens) {
    if (token.type === "link_open") {
      target = resolve(String(token.attrGet("href")));
      if (target !== undefined) token.attrSet("href", target);
    }
    // A text token without content renders nothing.
    if (target === undefined && token.type.startsWith("link_")) token.type = "text";
  }
}

/** Adds a rule to the renderer that replaces the targets of links. */
export function useSiteLinks(markdown: MarkdownRenderer, repository?: string): void {
  markdown.core.ruler.push("site-links", ({ tokens, env }) => {
    const from = sourceOf(env as MarkdownEnv);
    for (const { children } of tokens)
      replaceTargets(children ?? [], (href) => resolveLink(href, from, repository));
  });
}
