import assert from "node:assert/strict";
import { listNavigation, listSections } from "../../sidebar.js";

const index = `# Documentation

## Start

- [Install](start/install.md): the command.

## Set up

Machines:

- [Machines](set-up/machines.md) and [SSH](set-up/ssh-access.md)
- [Examples](../examples/README.md)

## Project

- [Decisions](decisions/README.md), [source](../index.ts)
`;

describe("sidebar", () => {
  const sections = listSections(index);

  it("has a collapsed section for each heading, which leads to its first page", () => {
    assert.deepEqual(
      sections.map(({ text, collapsed, link, docFooterText }) => ({
        text,
        collapsed,
        link,
        docFooterText,
      })),
      [
        { text: "Start", collapsed: true, link: "/start/install", docFooterText: "Install" },
        { text: "Set up", collapsed: true, link: "/set-up/machines", docFooterText: "Machines" },
        { text: "Project", collapsed: true, link: "/decisions/", docFooterText: "Decisions" },
      ],
    );
  });

  it("has a group for each line with a colon, and every page of its list", () => {
    assert.deepEqual(sections[1]?.items, [
      {
        text: "Machines",
        items: [
          { text: "Machines", link: "/set-up/machines" },
          { text: "SSH", link: "/set-up/ssh-access" },
          { text: "Examples", link: "/examples/" },
        ],
      },
    ]);
  });

  it("shows the pages below a README.md under the README.md", () => {
    const [decisions, ...others] = sections[2]?.items ?? [];
    assert.deepEqual(others, []);
    assert.equal(decisions?.text, "Decisions");
    const links = decisions.items?.map(({ link }) => link) ?? [];
    assert.ok(links.includes("/decisions/0001-join-tokens"), links.join(" "));
  });

  it("leads from the navigation bar to the first page of each section", () => {
    assert.deepEqual(listNavigation(sections), [
      { text: "Start", link: "/start/install", activeMatch: "^/start/" },
      { text: "Set up", link: "/set-up/machines", activeMatch: "^/set-up/" },
      { text: "Project", link: "/decisions/", activeMatch: "^/decisions/" },
    ]);
  });
});
