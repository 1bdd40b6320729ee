/** First lines of a generated page. */
export const generatedPage = (title: string, source: string): string[] => [
  `# ${title}`,
  "",
  `\`npm run docs\` writes this page from \`${source}\`. Do not edit it.`,
  "",
];

/** Returns the text as a sentence: with a capital letter and a full stop. */
export const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Returns plain text for Markdown. Without the backslash, `<name>` would be an HTML tag. */
export const escapeTags = (text: string): string => text.replaceAll("<", "\\<");

export const tableRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Returns a table with a header. */
export const table = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string[] => [tableRow(header), tableRow(header.map(() => "---")), ...rows.map(tableRow)];

/** Returns the anchor that GitHub and static generators give to a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
