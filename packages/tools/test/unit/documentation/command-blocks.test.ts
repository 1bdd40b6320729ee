import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import {
  countMarkers,
  listPages,
  listVerbs,
  readCodeBlocks,
  removeMarkers,
  type CodeBlock,
} from "../../../documentation/command-blocks.js";

const root = getPackageRoot();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const fence = "```";

const page = `# Scale

<!-- not run: needs a second cloud -->

${fence}sh
stackadm up
# no heading
${fence}

## Add workers

1. Apply:

   <!-- run: lab -->
   ${fence}sh
   for one in a b; do
     echo $one
   done
   ${fence}

   ${fence}text
   done
   ${fence}
`;

describe("readCodeBlocks", () => {
  const [first, second, third] = readCodeBlocks("page.md", page);

  it("returns heading, line, language and marker of a block", () => {
    assert.deepEqual(first, {
      page: "page.md",
      heading: "Scale",
      line: 5,
      language: "sh",
      text: "stackadm up\n# no heading",
      marker: { kind: "not run", reason: "needs a second cloud" },
    });
  });

  it("removes the indentation of a block in a list, and finds a marker without a blank line", () => {
    assert.equal(second?.heading, "Add workers");
    assert.equal(second.text, "for one in a b; do\n  echo $one\ndone");
    assert.deepEqual(second.marker, { kind: "run", sequence: "lab" });
  });

  it("returns a block without a marker", () => {
    assert.deepEqual([third?.language, third?.marker], ["text", undefined]);
  });

  it("refuses a block without an end", () => {
    const open = `${fence}sh\nls\n`;
    assert.throws(() => readCodeBlocks("page.md", open), /page\.md, line 1: .* no end/);
  });
});

describe("removeMarkers", () => {
  it("removes each marker with the blank line after it, and nothing else", () => {
    const shown = removeMarkers(page);
    assert.deepEqual([countMarkers(page), countMarkers(shown)], [2, 0]);
    assert.equal(page.split("\n").length - shown.split("\n").length, 3);
    assert.match(shown, /^# Scale\n\n```sh\nstackadm up\n/);
    assert.match(shown, /\n1\. Apply:\n\n {3}```sh\n/);
  });
});

describe("listVerbs", () => {
  for (const [text, verbs] of [
    ['eval "$(stackadm env)"\npulumi stack init dev', ["env", "stack"]],
    ["stackadm preview\nstackadm up --refresh", ["up"]],
    ["stackadm preview --refresh", ["preview"]],
    ["npm run build && npm pack", ["build", "pack"]],
    ["kubectl get nodes", []],
  ] as const)
    it(`returns ${JSON.stringify(verbs)} for ${JSON.stringify(text)}`, () => {
      assert.deepEqual(listVerbs(text), verbs);
    });
});

describe("listPages", () => {
  it("returns README.md first, and the pages of a folder in the order of the index", () => {
    const index = "[b](operate/b.md), [a](operate/a.md) [s](start/s.md) [g](glossary.md)";
    assert.deepEqual(listPages(index), [
      "README.md",
      "docs/start/s.md",
      "docs/operate/b.md",
      "docs/operate/a.md",
    ]);
  });
});

describe("command blocks of the documentation", () => {
  const pages = nonEmpty(listPages(read("docs/README.md")));
  const blocks = pages.flatMap((path) => readCodeBlocks(path, read(path)));
  const commands = nonEmpty(blocks.filter(({ language }) => language === "sh"));
  const name = ({ page: path, line }: CodeBlock): string => `${path}:${line}`;

  it("have a marker", () => {
    const without = commands.filter(({ marker }) => marker === undefined);
    assert.deepEqual(without.map(name), []);
  });

  it("have only one marker each, and no marker is elsewhere", () => {
    const marked = (path: string): number =>
      blocks.filter((block) => block.page === path && block.marker).length;
    const wrong = pages.filter((path) => countMarkers(read(path)) !== marked(path));
    assert.deepEqual(wrong, []);
  });

  it("share the marker `run` only with settings in YAML, and name a known sequence", () => {
    const wrong = blocks.filter(({ language, marker }) => {
      if (!marker) return false;
      if (marker.kind !== "run") return language !== "sh";
      return marker.sequence !== "dev-lab" || !["sh", "yaml"].includes(language);
    });
    assert.deepEqual(wrong.map(name), []);
  });

  it("name an existing test file that contains the verb of each command", () => {
    const wrong = commands.flatMap((block) => {
      if (block.marker?.kind !== "tested") return [];
      const { file } = block.marker;
      if (!/^(test|packages\/\w+\/test)\/.*\.ts$/.test(file) || !existsSync(join(root, file)))
        return [`${name(block)}: there is no test file ${file}`];
      const words = new Set(read(file).split(/[^\w-]+/));
      return listVerbs(block.text)
        .filter((verb) => !words.has(verb))
        .map((verb) => `${name(block)}: ${file} contains no '${verb}'`);
    });
    assert.deepEqual(wrong, []);
  });

  it("give a reason of at least three words and at most 100 characters", () => {
    const wrong = commands.filter(
      ({ marker }) =>
        marker?.kind === "not run" &&
        (marker.reason.length > 100 || !/^[a-z]\S*( \S+){2,}(?<!\.)$/.test(marker.reason)),
    );
    assert.deepEqual(wrong.map(name), []);
  });
});
