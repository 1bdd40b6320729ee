import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDeadLinks } from "../../check-links.js";

describe("findDeadLinks", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "site-"));
    mkdirSync(join(directory, "start"));
    writeFileSync(join(directory, "start", "index.html"), `<h2 id="first-step">First</h2>`);
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const check = (html: string, base = "/"): string[] => {
    writeFileSync(join(directory, "index.html"), html);
    return findDeadLinks(directory, base);
  };

  it("accepts pages, anchors and other hosts", () => {
    const html = `<a href="/start/#first-step">a</a> <a href="./start/index.html">b</a>
      <a href="https://example.org/#x">c</a> <p id="here"></p> <a href="#here">d</a>`;
    assert.deepEqual(check(html), []);
  });

  it("reports a page that does not exist", () => {
    assert.deepEqual(check(`<a href="/stop.html">a</a>`), ["index.html: /stop.html"]);
  });

  it("reports an anchor that does not exist, on the same page and on another page", () => {
    const html = `<a href="#there">a</a> <a href="/start/#second-step">b</a>`;
    assert.deepEqual(check(html), ["index.html: #there", "index.html: /start/#second-step"]);
  });

  it("reports a link outside of the base", () => {
    assert.deepEqual(check(`<a href="/base/start/">a</a>`, "/base/"), []);
    assert.deepEqual(check(`<a href="/start/">a</a>`, "/base/"), ["index.html: /start/"]);
  });
});
