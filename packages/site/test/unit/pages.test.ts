import assert from "node:assert/strict";
import { addressOf, isPage, routeOf } from "../../pages.js";

describe("pages of the site", () => {
  it("have addresses without docs/ and README", () => {
    assert.equal(addressOf("docs/operate/destroy.md"), "/operate/destroy");
    assert.equal(addressOf("docs/incidents/README.md"), "/incidents/");
    assert.equal(addressOf("packages/lab/README.md"), "/packages/lab/");
    assert.equal(addressOf("packages/site/api/README.md"), "/api/");
    assert.equal(addressOf("CHANGELOG.md"), "/CHANGELOG");
  });

  it("begin with the README of the repository, not with the index of the documentation", () => {
    assert.equal(routeOf("README.md"), "index.md");
    assert.equal(routeOf("docs/README.md"), "documentation.md");
  });

  it("are Markdown files outside of tests and hidden folders", () => {
    assert.equal(isPage("docs/operate/destroy.md"), true);
    assert.equal(isPage("package.json"), false);
    assert.equal(isPage(".github/pull_request_template.md"), false);
    const fixture = "packages/toolchain/test/fixtures/transcripts/command/README.md";
    assert.equal(isPage(fixture), false);
  });
});
