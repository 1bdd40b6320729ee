/** Configuration of VitePress. `site.ts` builds the site. */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { anchorOf } from "../tools/documentation/markdown.js";
import { findDeadLinks } from "./check-links.js";
import { useDiagrams } from "./diagrams.js";
import { homeFrontmatter, useShortHome } from "./home.js";
import { useSiteLinks } from "./links.js";
import {
  apiFolder,
  excluded,
  picturesFolder,
  readPage,
  repositoryVariable,
  root,
  routeOf,
} from "./pages.js";
import { searchOptions } from "./search.js";
import { apiSection, listNavigation, listSections } from "./sidebar.js";

const manifest = JSON.parse(readPage("package.json")) as {
  readonly name: string;
  readonly description: string;
};
const repository = process.env[repositoryVariable];
const sections = [...listSections(), apiSection()];

/**
 * Repairs the roles of VitePress's search box for screen readers: a button must not contain buttons,
 * and only an image may replace its text by a label.
 */
const searchBoxRoles = {
  name: "search-box-roles",
  enforce: "pre" as const,
  transform: (code: string, file: string): string | undefined =>
    file.endsWith("/VPLocalSearchBox.vue")
      ? code
          .replace(/role="button"[^>]*aria-haspopup="listbox"/, 'role="dialog" aria-modal="true"')
          .replaceAll("<kbd :aria-label", '<kbd role="img" :aria-label')
      : undefined,
};

export default defineConfig({
  title: manifest.name,
  description: manifest.description,
  srcDir: root,
  srcExclude: excluded,
  rewrites: routeOf,
  outDir: join(import.meta.dirname, "dist"),
  cacheDir: join(root, "node_modules", ".cache", "site"),
  markdown: {
    // Texts of the repository are plain GitHub Markdown: the same anchors, no braces with a meaning.
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (markdown) => {
      useShortHome(markdown);
      useSiteLinks(markdown, repository);
      useDiagrams(markdown);
    },
  },
  themeConfig: {
    nav: listNavigation(sections),
    sidebar: sections,
    outline: [2, 3],
    search: { provider: "local", options: { miniSearch: { searchOptions } } },
    ...(repository && {
      socialLinks: [{ icon: "git", link: repository, ariaLabel: "Repository" }],
      editLink: { pattern: `${repository}/edit/HEAD/:path`, text: "Edit this page" },
    }),
  },
  transformPageData: ({ filePath }) => {
    if (filePath === "README.md") return { frontmatter: homeFrontmatter(manifest, sections) };
    return filePath.startsWith(apiFolder)
      ? { frontmatter: { outline: 2, editLink: false } }
      : undefined;
  },
  vite: {
    plugins: [searchBoxRoles],
    // The search index is large, and loaded only by a search.
    build: { chunkSizeWarningLimit: 2000 },
  },
  buildEnd: ({ outDir, site }) => {
    const pictures = join(root, picturesFolder);
    if (existsSync(pictures)) cpSync(pictures, join(outDir, picturesFolder), { recursive: true });
    const dead = findDeadLinks(outDir, site.base);
    if (dead.length > 0) throw new Error(`Dead links:\n${dead.join("\n")}`);
  },
});
