// Keeps comment lines within 100 columns where a longer path made them too long.

const width = 100;
const comment = /^(\s*(?:\*|\/\/|#) ?)(?=\S)(.*)$/;
const isBlock = /^\s*\/\*\* (.*) \*\/$/;

/** Returns a line that follows in the same paragraph, as prefix and text. */
function following(line, prefix) {
  const [, found, text] = comment.exec(line ?? "") ?? [];
  const isNew = text === undefined || found !== prefix || /^([-@*]|\d+\.|\/)|^ /.test(text);
  return isNew ? undefined : text;
}

/** Wraps the lines of `after` that are too long, and were not in `before`. */
export function wrapped(before, after) {
  const long = new Set(before.split("\n").filter((line) => line.length > width));
  const lines = after.split("\n").flatMap((line) => {
    const [, text] = isBlock.exec(line) ?? [];
    if (text === undefined || line.length <= width) return [line];
    const indent = /^\s*/.exec(line)[0];
    return [`${indent}/**`, `${indent} * ${text}`, `${indent} */`];
  });
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line.length <= width || long.has(line)) continue;
    const [, prefix, text] = comment.exec(line) ?? [];
    if (text === undefined || /shellcheck/.test(text)) continue;
    const cut = line.lastIndexOf(" ", width);
    if (cut <= prefix.length) continue;
    const rest = line.slice(cut + 1);
    lines[index] = line.slice(0, cut);
    const next = following(lines[index + 1], prefix);
    const isEnd = next === undefined;
    lines.splice(index + 1, isEnd ? 0 : 1, prefix + (isEnd ? rest : `${rest} ${next}`));
  }
  return lines.join("\n");
}
