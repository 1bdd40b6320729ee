import assert from "node:assert/strict";
import {
  optionalAddonNames,
  optionalAddons,
} from "../../../../kubernetes/catalog/optional-addons.js";
import { getExecutableName } from "../../../../kubernetes/compile/go-mod-files.js";
import {
  getKubernetesRelease,
  supportedKubernetesVersions,
} from "../../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

const copiesOf = (name: string, copies: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(copies).map((copy) => `${name}/${copy}`);

for (const extra of optionalAddonNames)
  describe(`optional add-on ${extra}`, () => {
    const { components, images, manifests } = optionalAddons[extra]();

    it("is not part of the default builds", () => {
      const always = supportedKubernetesVersions.flatMap((version) =>
        getKubernetesRelease(version).images.map(({ repository }) => repository),
      );
      for (const { repository } of nonEmpty(images))
        assert.ok(!always.includes(repository), repository);
    });

    it("builds every program and copies every directory that an image contains", () => {
      const programs = components.flatMap(({ name, programs: mains }) =>
        Object.keys(mains).map((program) => `${name}/${program}`),
      );
      const copies = components.flatMap(({ name, copies: all }) => copiesOf(name, all));
      const held = images.flatMap(({ files }) => Object.values(files));
      assert.deepEqual([...new Set(held)].sort(), programs.sort());
      for (const { folders = {} } of images)
        for (const folder of Object.values(folders)) assert.ok(copies.includes(folder), folder);
      for (const manifest of Object.values(manifests)) assert.ok(copies.includes(manifest));
    });

    it("names programs as Go names the executables, and no program like a copied file", () => {
      for (const { programs, copies = {} } of nonEmpty(components)) {
        const names = Object.keys(programs);
        if (names.length > 1)
          assert.deepEqual(names, Object.values(programs).map(getExecutableName));
        for (const copy of Object.keys(copies)) assert.ok(!names.includes(copy), copy);
      }
    });
  });

describe("optional add-ons", () => {
  const all = optionalAddonNames.map((extra) => optionalAddons[extra]());

  it("describe the differences of a component of another module version to upstream's", () => {
    const pinned = all
      .flatMap(({ components }) => components)
      .filter(({ source }) => source.kind === "module" && source.moduleVersion !== undefined);
    for (const { name, deviation } of nonEmpty(pinned)) assert.ok(deviation, name);
  });

  it("describe the differences of an image on Debian to upstream's", () => {
    const onDebian = all.flatMap(({ images }) => images).filter(({ base }) => base === "debian");
    for (const { repository, deviation } of nonEmpty(onDebian)) assert.ok(deviation, repository);
  });
});
