import assert from "node:assert/strict";
import fc from "fast-check";
import { renderPackages, renderRelease } from "../../../../kubernetes/apt/apt-index.js";
import { debPackages, renderControl } from "../../../../kubernetes/catalog/deb-package-table.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

/** Parses stanzas like apt: fields, with continuation lines joined. */
function parse(text: string): Record<string, string>[] {
  return text
    .trimEnd()
    .split("\n\n")
    .map((stanza) =>
      Object.fromEntries(
        stanza
          .replaceAll(/\n /g, "\u0000")
          .split("\n")
          .map((line): [string, string] => {
            const colon = line.indexOf(":");
            return [line.slice(0, colon), line.slice(colon + 1).trim()];
          }),
      ),
    );
}

const file = (name: string) => ({ name, size: 4711, sha256: "ab".repeat(32) });

describe("Packages", () => {
  const text = renderPackages(
    debPackages.map((debPackage) => ({
      control: renderControl(debPackage, "1.0-1", 9),
      file: file(`${debPackage.name}_1.0-1_amd64.deb`),
    })),
  );
  const stanzas = parse(text);

  it("contains one stanza per package, in order", () => {
    assert.deepEqual(
      stanzas.map((stanza) => stanza["Package"]),
      debPackages.map(({ name }) => name),
    );
  });

  it("contains each file's path relative to the repository, size and digest", () => {
    for (const stanza of nonEmpty(stanzas)) {
      assert.equal(stanza["Filename"], `${stanza["Package"] ?? ""}_1.0-1_amd64.deb`);
      assert.equal(stanza["Size"], "4711");
      assert.equal(stanza["SHA256"], "ab".repeat(32));
    }
  });

  it("contains every field of the control file", () => {
    for (const [index, debPackage] of nonEmpty(debPackages.entries())) {
      const [control = {}] = parse(renderControl(debPackage, "1.0-1", 9));
      for (const [name, value] of nonEmpty(Object.entries(control))) {
        assert.equal(stanzas[index]?.[name], value);
      }
    }
  });

  it("ends every stanza with a newline, and is empty without packages", () => {
    assert.ok(text.endsWith("\n") && !text.endsWith("\n\n"));
    assert.equal(renderPackages([]), "");
  });
});

describe("Release", () => {
  const date = new Date(Date.UTC(2026, 0, 2, 3, 4, 5));
  const facts = { description: "Kubernetes v1.36", date, files: [] };

  it("has its date in RFC 2822 and UTC", () => {
    assert.ok(renderRelease(facts).includes("\nDate: Fri, 02 Jan 2026 03:04:05 UTC\n"));
  });

  it("contains architecture and minor", () => {
    const text = renderRelease(facts);
    assert.ok(text.includes("\nArchitectures: amd64\n"));
    assert.ok(text.includes("Kubernetes v1.36"));
  });

  it("contains suite and component if they exist, and is otherwise flat", () => {
    const suite = { codename: "bookworm", components: ["stable"] };
    const text = renderRelease({ ...facts, suite });
    assert.match(text, /^Suite: bookworm\nCodename: bookworm\nComponents: stable$/m);
    assert.doesNotMatch(renderRelease(facts), /^(Suite|Codename|Components):/m);
  });

  it("contains digest, size and name of every index", () => {
    fc.assert(
      fc.property(fc.nat(), (size) => {
        const text = renderRelease({ ...facts, files: [{ ...file("Packages"), size }] });
        const [, digest, bytes, name] = /^ ([0-9a-f]{64}) +(\d+) (\S+)$/m.exec(text) ?? [];
        assert.deepEqual([digest, bytes, name], ["ab".repeat(32), String(size), "Packages"]);
      }),
    );
  });
});
