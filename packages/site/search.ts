/** Search of the site: VitePress's local search, which needs no server. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import MiniSearch, { type SearchOptions } from "minisearch";

/**
 * Options of each search. VitePress sends this object to the browser as text, so its functions must
 * not use anything outside of themselves.
 */
export const searchOptions: SearchOptions = {
  // Searches also for the stem of a word, so that `rotation` finds `rotate`.
  processTerm: (term) => {
    const word = term.toLowerCase();
    const stem = word.replace(/(ion|ing|ed|es|e|s)$/, "");
    return word.length > 5 && stem !== word ? [word, stem] : word;
  },
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, titles: 2, text: 1 },
  // Operators search for tasks. Texts for contributors use the same words more often.
  boostDocument: (address: string) => (/\/(api|decisions|packages)\//.test(address) ? 0.3 : 1),
};

/** Loads the search index of a built site, with the options of VitePress's search box. */
export async function loadSearch(directory: string): Promise<MiniSearch> {
  const chunks = join(directory, "assets", "chunks");
  const name = readdirSync(chunks).find((file) => file.startsWith("@localSearchIndexroot"));
  if (name === undefined) throw new Error(`${chunks} has no search index`);
  const { default: json } = (await import(join(chunks, name))) as { default: string };
  const fields = ["title", "titles", "text"];
  return MiniSearch.loadJSON(json, { fields, storeFields: ["title", "titles"], searchOptions });
}

/** Returns the addresses of the first pages that a search finds, without anchors. */
export const findPages = (search: MiniSearch, words: string, count: number): string[] =>
  search
    .search(words)
    .slice(0, count)
    .map(({ id }) => String(id).replace(/(\.html)?(#.*)?$/, ""));
