/** Home page of the site, from README.md. */
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";
import { sourceOf } from "./links.js";
import { listNavigation, type Section } from "./sidebar.js";

const readme = "README.md";

/** Shortens README.md to the texts before its second heading. The rest is in other pages. */
export function useShortHome(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("short-home", (state) => {
    if (sourceOf(state.env as MarkdownEnv) !== readme) return;
    const isHeading = state.tokens.map(({ type }) => type === "heading_open");
    const begin = isHeading.indexOf(true) + 3;
    state.tokens = state.tokens.slice(begin, isHeading.indexOf(true, begin));
  });
}

/** Returns the front matter of VitePress's home layout. */
export function homeFrontmatter(
  { name, description }: { readonly name: string; readonly description: string },
  sections: readonly Section[],
): object {
  const actions = sections[0]?.items ?? [];
  return {
    layout: "home",
    hero: {
      name,
      tagline: description,
      actions: actions.slice(0, 3).map(({ text: title, link }, position) => ({
        text: title,
        link,
        theme: position === 0 ? "brand" : "alt",
      })),
    },
    features: listNavigation(sections).map(({ text: title, link }, position) => ({
      title,
      link,
      details: sections[position]?.items.map((item) => item.text).join(" · "),
    })),
  };
}
