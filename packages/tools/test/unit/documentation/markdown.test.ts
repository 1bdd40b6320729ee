import assert from "node:assert/strict";
import { escapeTags } from "../../../documentation/markdown.js";

describe("escapeTags", () => {
  it("keeps a placeholder visible, which Markdown would read as an HTML tag", () => {
    assert.equal(escapeTags("Pulumi.<name>.yaml"), "Pulumi.\\<name>.yaml");
  });
});
