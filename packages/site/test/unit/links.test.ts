import assert from "node:assert/strict";
import { resolveLink } from "../../links.js";

describe("resolveLink", () => {
  const from = "docs/operate/destroy.md";
  const repository = "https://git.example.org/team/stackadm";

  it("leads from a page to a page, with the anchor", () => {
    assert.equal(resolveLink("restore.md#restore", from), "/operate/restore.md#restore");
    assert.equal(resolveLink("../incidents/README.md", from), "/incidents/index.md");
    assert.equal(resolveLink("../incidents/", from), "/incidents/index.md");
    assert.equal(resolveLink("../../README.md", from), "/index.md");
    assert.equal(resolveLink("../README.md", from), "/documentation.md");
    assert.equal(resolveLink("../../packages/lab/README.md", from), "/packages/lab/index.md");
  });

  it("leads from a page to a picture, which the site contains", () => {
    const link = resolveLink("../pictures/upgrade.svg", from, repository);
    assert.equal(link, "/docs/pictures/upgrade.svg");
  });

  it("leads from a page to a source file in the repository", () => {
    const link = resolveLink("../../components/index.ts", from, repository);
    assert.equal(link, `${repository}/blob/HEAD/components/index.ts`);
  });

  it("is undefined for a source file if no repository is known", () => {
    assert.equal(resolveLink("../../components/index.ts", from), undefined);
  });

  it("keeps other links", () => {
    assert.equal(resolveLink("https://example.org/a.md", from), "https://example.org/a.md");
    assert.equal(resolveLink("#related", from), "#related");
  });

  it("refuses a link to a file that does not exist", () => {
    assert.throws(() => resolveLink("nothing.md", from), /there is no docs\/operate\/nothing.md/);
  });
});
