/**
 * One word for a POSIX shell that means exactly `text`, whatever is in it.
 * Single quotes leave everything alone but themselves. A NUL byte cannot travel and is refused.
 */
export function quote(text: string): string {
  if (text.includes("\0")) throw new RangeError("a NUL byte cannot be given to a shell");
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Shell assignments, one per line, in the order of the names so that equal values give equal text. */
export function assignments(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => {
      if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw new RangeError(`${name} is not a variable name`);
      return `${name}=${quote(value)}\n`;
    })
    .join("");
}
