/** Diagrams: `mermaid` blocks become SVG images when the site is built. */
import { renderMermaidSVG } from "beautiful-mermaid";
import type { MarkdownRenderer } from "vitepress";

/** Width of the text of a page, in pixels. */
const pageWidth = 688;

const draw = (text: string): string =>
  renderMermaidSVG(text, { bg: "transparent", font: "inherit", padding: 8 });

/**
 * Returns a diagram as SVG. Draws a flowchart from top to bottom if the page is too narrow. Removes
 * the style element: Vue accepts none in a page, and this one loads a font from the internet.
 * `theme/style.css` sets the colours.
 */
export function renderDiagram(text: string): string {
  const asWritten = draw(text);
  const width = Number(/ width="([\d.]+)"/.exec(asWritten)?.[1]);
  const svg = width > pageWidth ? draw(text.replace(/^flowchart LR/, "flowchart TD")) : asWritten;
  const image = svg.replace(/<style>[\s\S]*?<\/style>/, "");
  return `<div class="diagram" tabindex="0" role="group" aria-label="Diagram">${image}</div>\n`;
}

/** Replaces the renderer of `mermaid` blocks. */
export function useDiagrams(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, position, ...rest) => {
    const token = tokens[position];
    if (token?.info.trim() === "mermaid") return renderDiagram(token.content);
    return fence?.(tokens, position, ...rest) ?? "";
  };
}
