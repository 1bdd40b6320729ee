import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import { removeMarkers } from "../../../documentation/command-blocks.js";
import { anchorOf } from "../../../documentation/markdown.js";

const root = getPackageRoot();
const maxLines = 150;
/** Folders of pages that follow the rules for a task page. */
const taskFolders = /^docs\/(start|set-up|operate|incidents|team|build)\//;

const documents = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((path) => existsSync(join(root, path)));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Returns the text without code, in which brackets are not links. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");

/** Returns the anchors of a document. The second heading with the same text ends with `-1`. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of text
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const base = anchorOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    anchors.add(count === 0 ? base : `${base}-${count}`);
  }
  return anchors;
}

interface Link {
  readonly from: string;
  readonly target: string;
}

/** Returns the links of a document that lead into the repository. */
const linksOf = (from: string): Link[] => {
  const text = withoutCode(read(from));
  const inline = [...text.matchAll(/\]\(([^)\s]+)\)/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  return [...inline, ...references]
    .map(([, target = ""]) => ({ from, target }))
    .filter(({ target }) => !/^(https?|mailto):/.test(target));
};

/** Returns why a link is broken. */
function brokenBecause({ from, target }: Link): string[] {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : relative(root, join(root, dirname(from), path));
  if (!existsSync(join(root, file))) return [`${from}: ${target}: there is no ${file}`];
  if (anchor === undefined || !file.endsWith(".md")) return [];
  return anchorsOf(read(file)).has(anchor) ? [] : [`${from}: ${target}: ${file} has no #${anchor}`];
}

describe("documentation pages", () => {
  const pages = documents.filter((path) => taskFolders.test(path));

  it("contain no broken link or anchor", () => {
    const links = nonEmpty(documents.flatMap(linksOf));
    assert.deepEqual(links.flatMap(brokenBecause), []);
  });

  it(`have at most ${maxLines} lines without the markers of command blocks`, () => {
    const lines = (path: string): number => removeMarkers(read(path)).split("\n").length - 1;
    assert.deepEqual(
      nonEmpty(pages).filter((path) => lines(path) > maxLines),
      [],
    );
  });

  it("are all in the index docs/README.md", () => {
    const indexed = linksOf("docs/README.md").map(({ target }) => join("docs", target));
    assert.deepEqual(
      nonEmpty(pages).filter((path) => !indexed.includes(path)),
      [],
    );
  });

  it("show commands as `stackadm`, because no registry has a package of that name", () => {
    const found = nonEmpty(pages).filter((path) =>
      /npx (--\S+ )*stackadm(?!-lab)\b/.test(read(path)),
    );
    assert.deepEqual(found, []);
  });

  it("give each code block a language", () => {
    const without = nonEmpty(pages).filter((path) => {
      const fences = [...read(path).matchAll(/^ *```(\w*)$/gm)].map(([, language]) => language);
      return fences.some((language, index) => index % 2 === 0 && language === "");
    });
    assert.deepEqual(without, []);
  });
});
