/**
 * Statement above a command block: the sequence of the lab test that runs the block, the file that
 * tests the same command, or the reason why no test runs the block.
 */
export type Marker =
  | { readonly kind: "run"; readonly sequence: string }
  | { readonly kind: "tested"; readonly file: string }
  | { readonly kind: "not run"; readonly reason: string };

/** Fenced code block of a page. */
export interface CodeBlock {
  /** Path of the page in the repository. */
  readonly page: string;
  /** Text of the last heading before the block. */
  readonly heading: string;
  /** Line number of the opening fence. The first line of the page has the number 1. */
  readonly line: number;
  readonly language: string;
  /** Lines between the fences, without the indentation of the fences. */
  readonly text: string;
  /** Marker directly above the block. Absent: the block has no marker. */
  readonly marker?: Marker;
}

const markerPattern = /^ *<!-- (run|tested|not run): (\S.*?) -->$/;
const fencePattern = /^( *)```(\w+)$/;
const headingPattern = /^#{1,6} +(.+?) *$/;

function parseMarker(line: string): Marker | undefined {
  const [, kind, text = ""] = markerPattern.exec(line) ?? [];
  switch (kind) {
    case "run":
      return { kind: "run", sequence: text };
    case "tested":
      return { kind: "tested", file: text };
    case "not run":
      return { kind: "not run", reason: text };
    default:
      return undefined;
  }
}

/**
 * Returns the marker above the line with this index. One blank line may be between them, because
 * prettier writes a blank line after a comment.
 */
function findMarkerAbove(lines: readonly string[], index: number): Marker | undefined {
  const above = lines[index - 1] ?? "";
  return parseMarker(above.trim() === "" ? (lines[index - 2] ?? "") : above);
}

/** Returns all fenced code blocks of a page. */
export function readCodeBlocks(page: string, markdown: string): readonly CodeBlock[] {
  const lines = markdown.split("\n");
  const blocks: CodeBlock[] = [];
  let heading = "";
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    heading = headingPattern.exec(line)?.[1] ?? heading;
    const [fence, indent = "", language = ""] = fencePattern.exec(line) ?? [];
    if (fence === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end < 0) throw new Error(`${page}, line ${index + 1}: the code block has no end`);
    const inner = lines.slice(index + 1, end).map((one) => one.slice(indent.length));
    const marker = findMarkerAbove(lines, index);
    blocks.push({ page, heading, line: index + 1, language, text: inner.join("\n"), marker });
    index = end;
  }
  return blocks;
}

/** Returns the number of markers in a page. */
export const countMarkers = (markdown: string): number =>
  markdown.split("\n").filter((line) => markerPattern.test(line)).length;

/** Returns the page as a reader sees it: without markers and the blank line after each marker. */
export const removeMarkers = (markdown: string): string =>
  markdown.replaceAll(new RegExp(`${markerPattern.source}\n\n?`, "gm"), "");

/**
 * Returns the verbs of the block's commands: `up` of `stackadm up`, `stack` of `pulumi stack init`,
 * `dev` of `npm run dev`. Leaves out `preview` next to `up`, because `up` plans the same change.
 */
export function listVerbs(text: string): readonly string[] {
  const commands = text.matchAll(/\b(?:stackadm|pulumi|npm(?: run)?) ([a-z][\w-]*)/g);
  const verbs = new Set([...commands].map(([, verb = ""]) => verb));
  if (verbs.has("up")) verbs.delete("preview");
  return [...verbs];
}

/**
 * Folders of the task pages, in the order in which a sequence runs their blocks. `operate` is the
 * last folder, because its last page destroys the cluster.
 */
const folders = ["start", "set-up", "team", "build", "incidents", "operate"];

/**
 * Returns the pages with command blocks: README.md, then the task pages. The pages of a folder have
 * the order of the index.
 *
 * @param index text of docs/README.md
 */
export function listPages(index: string): readonly string[] {
  const links = index.matchAll(/\]\(([\w-]+\/[\w-]+\.md)\)/g);
  const pages = [...new Set([...links].map(([, path = ""]) => path))];
  const inOrder = folders.flatMap((folder) =>
    pages.filter((path) => path.startsWith(`${folder}/`)).map((path) => `docs/${path}`),
  );
  return ["README.md", ...inOrder];
}
