import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { nonEmpty } from "../../../../test/support/non-empty.js";
import { apiSection, listSections } from "../../sidebar.js";

const listLinks = ({ link, items = [] }: DefaultTheme.SidebarItem): string[] => [
  ...(link === undefined ? [] : [link]),
  ...items.flatMap(listLinks),
];

/** Pages that other parts of the site lead to: the home page, an error, two lists of the sidebar. */
const outside = ["/", "/404", "/api/", "/documentation"];

describe("pages of the built site", () => {
  const dist = join(import.meta.dirname, "..", "..", "dist");
  const pages = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".html"))
    .map((file) => `/${file.replace(/(^|\/)index\.html$|\.html$/, "$1")}`);

  it("are all in the sidebar", () => {
    const linked = new Set([...listSections(), apiSection()].flatMap(listLinks));
    const missing = nonEmpty(pages).filter((page) => !linked.has(page));
    assert.deepEqual(missing.sort(), outside);
  });
});
