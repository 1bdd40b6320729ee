/**
 * Returns a table as text. Each column is as wide as its widest cell. Two spaces separate the
 * columns. Lines have no trailing spaces.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? "").length)),
  );
  return all
    .map((row) =>
      widths
        .map((width, column) => {
          const cell = row[column] ?? "";
          return cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
