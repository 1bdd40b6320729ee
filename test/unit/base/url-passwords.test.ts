import assert from "node:assert/strict";
import {
  findUrlPasswords,
  removeUrlPassword,
  replaceUrlPasswords,
} from "../../../base/url-passwords.js";

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
      ["postgres://stacks:pa/ss#w?rd@host/db", "postgres://stacks@host/db"],
      ["azblob://states?sv=1&sig=abc", "azblob://states?sv=1&sig=..."],
    ] as const)
      assert.equal(removeUrlPassword(url), seen);
  });

  it("is unchanged without a password", () => {
    for (const url of [
      "file:///srv/a@b:c",
      "s3://bucket/a@b?region=x",
      "file://~/stacks",
      "https://host:8443/a@b",
      "https://[::1]:8443/a@b",
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

  it("is replaced in a text, with any characters in the password", () => {
    for (const url of [
      "postgres://stacks:pass@host/db",
      "postgres://stacks:pa/ss@host/db",
      "http://stacks:p#a?ss@host:3128",
    ]) {
      const text = replaceUrlPasswords(
        `'${url}' is wrong, https://host:8443/a@b is not`,
        "[secret]",
      );
      assert.match(text, /stacks:\[secret\]@host.*8443\/a@b is not$/, text);
      assert.doesNotMatch(text, /pa|ss@/, text);
    }
    for (const text of ["see https://[::1]:80/a@b", "oci://host:5000/image@sha256:1"])
      assert.equal(replaceUrlPasswords(text, "[secret]"), text);
  });
});
