import assert from "node:assert/strict";
import { findUrlPassword, removeUrlPassword } from "../../../base/url-passwords.js";

describe("displayed URL", () => {
  it("contains no password, with any characters in the password", () => {
    for (const [url, seen] of [
      ["postgres://stacks:pass@host/db", "postgres://stacks@host/db"],
      [
        "postgres://stacks:p@ss:w%2Frd@host/db?sslmode=require",
        "postgres://stacks@host/db?sslmode=require",
      ],
      ["postgres://stacks@host/db", "postgres://stacks@host/db"],
      ["postgres://:pass@host/db", "postgres://host/db"],
    ] as const)
      assert.equal(removeUrlPassword(url), seen);
  });

  it("is unchanged without a password", () => {
    for (const url of [
      "file:///srv/a@b:c",
      "s3://bucket/a@b?region=x",
      "file://~/stacks",
      "nothing",
    ]) {
      assert.equal(removeUrlPassword(url), url);
      assert.equal(findUrlPassword(url), undefined, url);
    }
  });

  it("reports the password that it contained", () => {
    assert.equal(findUrlPassword("postgres://stacks:p@ss:word@host/db"), "p@ss:word");
    assert.equal(findUrlPassword("postgres://stacks@host/db"), undefined);
  });
});
