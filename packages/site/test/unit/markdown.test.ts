import assert from "node:assert/strict";
import { join } from "node:path";
import { createMarkdownRenderer, disposeMdItInstance } from "vitepress";
import { renderDiagram, useDiagrams } from "../../diagrams.js";
import { homeFrontmatter, useShortHome } from "../../home.js";
import { useSiteLinks } from "../../links.js";
import { root } from "../../pages.js";

describe("Markdown of the site", () => {
  after(() => {
    disposeMdItInstance();
  });

  const render = async (file: string, text: string): Promise<string> => {
    const markdown = await createMarkdownRenderer(root, {
      config: (one) => {
        useShortHome(one);
        useSiteLinks(one);
        useDiagrams(one);
      },
    });
    disposeMdItInstance();
    return markdown.render(text, { path: join(root, file), relativePath: file, cleanUrls: false });
  };

  it("keeps the text of a link to a source file, without the link", async () => {
    const html = await render("docs/glossary.md", "See [the code](../index.ts), [CI](team/ci.md).");
    assert.equal(html, `<p>See the code, <a href="/team/ci.html">CI</a>.</p>\n`);
  });

  it("shows only the beginning of README.md on the home page", async () => {
    const text = "# Name\n\nFirst.\n\n## More\n\nSecond.\n";
    assert.equal(await render("README.md", text), "<p>First.</p>\n");
    assert.match(await render("ROADMAP.md", text), /Second/);
  });

  it("draws a flowchart from top to bottom if a page is too narrow for it", () => {
    const names = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
    const long = `flowchart LR\n  ${names.join(" --> ")}\n`;
    assert.equal(renderDiagram(long), renderDiagram(long.replace("LR", "TD")));
    const short = "flowchart LR\n  One --> Two\n";
    assert.notEqual(renderDiagram(short), renderDiagram(short.replace("LR", "TD")));
  });

  it("draws diagrams without a style element and without an address", async () => {
    const html = await render(
      "docs/glossary.md",
      "```mermaid\nflowchart LR\n  a[One] --> b\n```\n",
    );
    assert.equal(html, renderDiagram("flowchart LR\n  a[One] --> b\n"));
    assert.match(html, /<svg[\s\S]*One[\s\S]*<\/svg>/);
    assert.doesNotMatch(html, /<style|@import|url\(.?http/);
  });

  it("begins the home page with the description of the package and the sections", () => {
    const install = { text: "Install", link: "/start/install" };
    const start = { text: "Start", link: install.link, items: [install] };
    const manifest = { name: "name", description: "Does one thing" };
    assert.deepEqual(homeFrontmatter(manifest, [start]), {
      layout: "home",
      hero: {
        name: "name",
        tagline: "Does one thing",
        actions: [{ text: "Install", link: "/start/install", theme: "brand" }],
      },
      features: [{ title: "Start", link: "/start/install", details: "Install" }],
    });
  });
});
