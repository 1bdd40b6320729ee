/**
 * Characters by their width in hundredths of the font size, in DejaVu Sans. This font is the widest
 * of the fonts that browsers use for `system-ui`, so a text that fits in it fits in the others.
 */
const charactersByWidth: Readonly<Record<number, string>> = {
  28: "'IJijl",
  32: " ,./:;\\|·",
  36: "-f",
  40: "!()[]rt",
  44: '"',
  48: "*_`–",
  52: "?sz",
  56: "FLck",
  60: "PTYaeovxy",
  64: "$0123456789EKSbdghnpqu{}",
  68: "ABCRVXZ",
  72: "U",
  76: "&DGHN",
  80: "OQw",
  84: "#+<=>^~×→",
  88: "M",
  96: "%m",
  100: "@W",
};

const widths = new Map(
  Object.entries(charactersByWidth).flatMap(([width, characters]) =>
    Array.from(characters, (character) => [character, Number(width)] as const),
  ),
);

/** Ratio of the widths of bold and normal text in words. */
const boldRatio = 1.15;

/** Returns the largest width that a browser needs for the text, in pixels. */
export function estimateTextWidth(text: string, size: number, bold = false): number {
  const hundredths = Array.from(text).reduce((sum, one) => sum + (widths.get(one) ?? 100), 0);
  return (hundredths / 100) * size * (bold ? boldRatio : 1);
}

/** Joins words to lines that are at most `width` pixels wide. A longer word gets its own line. */
export function wrapWords(
  words: readonly string[],
  width: number,
  { size, separator }: { readonly size: number; readonly separator: string },
): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ""}${separator}${word}`;
    if (lines.length > 0 && estimateTextWidth(longer, size) <= width)
      lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
