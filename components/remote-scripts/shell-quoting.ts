/**
 * Returns the text as one quoted word for a POSIX shell. Single quotes protect all characters
 * except single quotes. Throws if the text contains a NUL byte, which no argument can contain.
 */
export function quoteForShell(text: string): string {
  if (text.includes("\0")) throw new RangeError("a NUL byte cannot be given to a shell");
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns shell assignments, one per line. The lines are sorted by name, so that equal values give
 * equal text.
 */
export function renderShellAssignments(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => {
      if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw new RangeError(`${name} is not a variable name`);
      return `${name}=${quoteForShell(value)}\n`;
    })
    .join("");
}
