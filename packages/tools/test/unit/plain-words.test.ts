import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { nonEmpty } from "../../../../test/support/non-empty.js";
import { avoidedPhrases, findAvoidedPhrases } from "../../plain-words.js";

const root = getPackageRoot();
/** Files with texts of others, or records, and the two files that contain the phrases. */
const unchecked =
  /(^|\/)(fixtures\/|LICENSE$|package-lock\.json$|go\.sum$|plain-words\.)|\.(jsonl|asc)$/;
const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")
  .filter((path) => !unchecked.test(path) && existsSync(join(root, path)));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Texts with one avoided phrase each, in the order of the table. */
const samples = [
  "The program creates it anew.",
  "A destroy takes away the volume.",
  "when the script comes to its end",
  "Whoever runs `up` owns it.",
  "somebody else's lock",
  "nobody answers",
  "Besides, it is slow.",
  "// mends the state",
  "It answers by heart.",
  "a name by lot",
  "This part looks after locks.",
  "whatever the cloud says",
  "The registry speaks HTTP.",
  "It knows nothing of OpenStack.",
  "It is deleted all the same.",
  "while the cluster lives",
  "The lock is let go.",
  "a network of its own",
];

describe("avoided phrases", () => {
  it("are in no tracked text", () => {
    const found = nonEmpty(files).flatMap((path) =>
      findAvoidedPhrases(read(path)).map(
        ({ line, phrase, instead }) => `${path}:${line}: '${phrase}': write: ${instead}`,
      ),
    );
    assert.deepEqual(found, []);
  });

  it("have only exceptions that the tracked text needs", () => {
    const texts = files.map(read);
    const exceptions = avoidedPhrases.flatMap(({ except = [] }) => except);
    assert.deepEqual(
      exceptions.filter((kept) => !texts.some((text) => text.includes(kept))),
      [],
    );
  });

  it("are found by each row of the table", () => {
    assert.deepEqual(
      samples.map((text) => findAvoidedPhrases(text).map(({ instead }) => instead)),
      avoidedPhrases.map(({ instead }) => [instead]),
    );
  });

  it("are found across two lines of a comment, with the first line's number", () => {
    const comment = "/**\n * Creates a network of its\n * own.\n */";
    assert.deepEqual(
      findAvoidedPhrases(comment).map(({ line }) => line),
      [2],
    );
    assert.equal(findAvoidedPhrases("# it looks\n# after locks").length, 1);
  });

  it("are not found in exceptions, in parts of words and in plain text", () => {
    const texts = [
      'update: "did not come to its end"',
      "script_user nobody",
      "recommended, amended, livestock, livesInZone",
      "The program creates the network again and deletes the former one.",
    ];
    assert.deepEqual(texts.flatMap(findAvoidedPhrases), []);
  });
});
