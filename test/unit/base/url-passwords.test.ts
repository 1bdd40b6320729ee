import assert from "node:assert/strict";
import { findUrlPasswords, removeUrlPassword } from "../../../base/url-passwords.js";

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
      [
        "postgres:///db?host=/run&user=u&password=p%40ss&sslpassword=q&sslmode=require",
        "postgres:///db?host=/run&user=u&password=...&sslpassword=...&sslmode=require",
      ],
      ["azblob://states?sv=1&sig=abc", "azblob://states?sv=1&sig=..."],
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
      assert.deepEqual(findUrlPasswords(url), [], url);
    }
  });

  it("reports the passwords that it contained", () => {
    assert.deepEqual(findUrlPasswords("postgres://stacks:p@ss:word@host/db"), ["p@ss:word"]);
    assert.deepEqual(findUrlPasswords("postgres://stacks@host/db"), []);
    assert.deepEqual(findUrlPasswords("postgres://u:one@host/db?password=two&token=three"), [
      "one",
      "two",
      "three",
    ]);
  });
});
