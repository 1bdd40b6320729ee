import assert from "node:assert/strict";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";
import type MiniSearch from "minisearch";
import { addressOf } from "../../pages.js";
import { questions } from "../../questions.js";
import { findPages, loadSearch } from "../../search.js";
import { listSections } from "../../sidebar.js";

/**
 * Returns the number of clicks from the home page to a page: on its section in the navigation bar,
 * on each collapsed item above it, and on the page.
 */
function countClicks(items: readonly DefaultTheme.SidebarItem[], address: string): number {
  const counts = items.map(({ link, collapsed, items: below = [] }) =>
    link === address ? 1 : countClicks(below, address) + (collapsed === true ? 1 : 0),
  );
  return Math.min(Infinity, ...counts);
}

describe("questions of operators on the built site", () => {
  let search: MiniSearch;

  before(async () => {
    search = await loadSearch(join(import.meta.dirname, "..", "..", "dist"));
  });

  for (const { page, searches } of questions) {
    for (const words of searches)
      it(`'${words}': ${page} is among the first three results`, () => {
        const found = findPages(search, words, 3);
        assert.ok(found.includes(addressOf(page)), found.join(", "));
      });

    it(`${page} is at most three clicks away from the home page`, () => {
      const clicks = countClicks(listSections(), addressOf(page));
      assert.ok(clicks <= 3, String(clicks));
    });
  }

  it("finds nothing for a word that no page contains", () => {
    assert.deepEqual(findPages(search, "xyzzyplugh", 3), []);
  });
});
