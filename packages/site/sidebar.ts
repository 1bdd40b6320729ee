/** Navigation of the site, from the sections and lists of docs/README.md. */
import { posix } from "node:path";
import type { DefaultTheme } from "vitepress";
import { addressOf, apiFolder, isPage, readPage, titleOf } from "./pages.js";

export interface Section extends DefaultTheme.SidebarItem {
  readonly text: string;
  readonly items: Item[];
}

interface Item extends DefaultTheme.SidebarItem {
  readonly text: string;
  readonly items?: Item[];
}

type Entry = DefaultTheme.NavItemWithLink;

const index = "docs/README.md";

/** The sidebar renders texts as HTML. */
const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

interface PageLink {
  readonly text: string;
  readonly file: string;
}

/** Returns the links in a text of the file `from` that lead to other pages. */
const pageLinks = (content: string, from: string): PageLink[] =>
  [...content.matchAll(/\[([^\]]+)\]\(([^)\s#]+\.md)\)/g)]
    .map(([, text = "", path = ""]) => ({ text, file: posix.join(posix.dirname(from), path) }))
    .filter(({ file }) => isPage(file));

/**
 * Returns the pages below the folder of a README.md that the README.md links and that are not in
 * the index of the documentation.
 */
function childrenOf(readme: string, indexed: ReadonlySet<string>): Item[] {
  if (posix.basename(readme) !== "README.md") return [];
  const title = titleOf(readme);
  const linked = new Set(pageLinks(readPage(readme), readme).map(({ file }) => file));
  return [...linked]
    .filter((file) => file.startsWith(`${posix.dirname(readme)}/`) && !indexed.has(file))
    .map((file) => ({
      text: escape(titleOf(file).replace(`${title}: `, "")),
      link: addressOf(file),
    }));
}

function itemOf({ text, file }: PageLink, indexed: ReadonlySet<string>): Item {
  const items = childrenOf(file, indexed);
  const item = { text: escape(text), link: addressOf(file) };
  return items.length === 0 ? item : { ...item, collapsed: true, items };
}

const firstPage = (item: Item): Item =>
  item.link === undefined && item.items?.[0] ? firstPage(item.items[0]) : item;

/**
 * Adds the link to the first page of a section. Without a link, VitePress makes the section a button
 * that contains another button, which screen readers cannot use.
 */
function linkFirstPage(section: Section): Section {
  const { text, link } = firstPage(section);
  return { ...section, link, docFooterText: text };
}

/**
 * Returns the sections of the sidebar. A heading of the index begins a section. A line that ends
 * with a colon begins a group in the section.
 */
export function listSections(text: string = readPage(index)): Section[] {
  const indexed = new Set(pageLinks(text, index).map(({ file }) => file));
  const sections: Section[] = [];
  let list: Item[] = [];
  for (const line of text.split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    const [, group] = /^(\S.*):$/.exec(line) ?? [];
    if (heading !== undefined) {
      list = [];
      sections.push({ text: heading, collapsed: true, items: list });
    } else if (group !== undefined) {
      list = [];
      sections.at(-1)?.items.push({ text: group, items: list });
    } else list.push(...pageLinks(line, index).map((link) => itemOf(link, indexed)));
  }
  return sections.map(linkFirstPage);
}

/** Returns the section with the pages that TypeDoc wrote. */
export function apiSection(): Section {
  const readme = `${apiFolder}/README.md`;
  const items = childrenOf(readme, new Set([readme]));
  return linkFirstPage({ text: "API", collapsed: true, items });
}

/** Returns the entries of the navigation bar. An entry is active on all pages in its folder. */
export const listNavigation = (sections: readonly Section[]): Entry[] =>
  sections.map(({ text, link = "/" }) => {
    const [folder] = /^\/[^/]+\//.exec(link) ?? [];
    return { text, link, ...(folder !== undefined && { activeMatch: `^${folder}` }) };
  });
