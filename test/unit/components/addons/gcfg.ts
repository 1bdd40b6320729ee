/**
 * Parses gcfg files by the rules of gopkg.in/gcfg.v1 (doc.go, scanner.go): quoted and unquoted
 * parts in one value, escapes `\\ \" \n \t`, comments after `;` and `#` outside of quotes, no
 * trailing blanks. Throws like gcfg, and also for repeated keys, which gcfg accepts.
 */
export type Parsed = Record<string, Record<string, string>>;

export function parseGcfg(text: string): Parsed {
  const result: Parsed = {};
  let section: Record<string, string> | undefined;
  let rest = text;
  while (rest !== "") {
    const blank = /^(?:[ \t]*(?:[;#][^\n]*)?\n)/.exec(rest);
    const header = /^\[([A-Za-z][A-Za-z0-9-]*(?: "[^"\\\n]*")?)\]\n/.exec(rest);
    const key = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*/.exec(rest);
    if (blank !== null) {
      rest = rest.slice(blank[0].length);
    } else if (header !== null) {
      section = open(result, header[1] ?? "");
      rest = rest.slice(header[0].length);
    } else if (key !== null && section !== undefined) {
      const { value, length } = scanValue(rest.slice(key[0].length));
      put(section, key[1] ?? "", value);
      rest = rest.slice(key[0].length + length);
    } else {
      throw new SyntaxError(`neither section nor key: ${JSON.stringify(rest.slice(0, 40))}`);
    }
  }
  return result;
}

function open(result: Parsed, name: string): Record<string, string> {
  if (result[name] !== undefined) {
    throw new SyntaxError(`section ${name} twice`);
  }
  return (result[name] = {});
}

function put(section: Record<string, string>, key: string, value: string): void {
  if (section[key] !== undefined) {
    throw new SyntaxError(`key ${key} twice`);
  }
  section[key] = value;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\", '"': '"', n: "\n", t: "\t" };
const valuePattern = /^((?:"(?:[^"\\\n]|\\[\\"nt])*"|[^";#\\\n])*)(?:[;#][^\n]*)?(?=\n|$)/;

/** Returns the value up to the end of its line, and its length in UTF-16 units. */
function scanValue(text: string): { value: string; length: number } {
  const match = valuePattern.exec(text);
  if (match === null) {
    throw new SyntaxError("string not terminated, or invalid escape sequence");
  }
  const raw = (match[1] ?? "").replace(/[ \t\r]+$/, "");
  const value = raw.replaceAll(/\\(.)|"/g, (_, escaped?: string) =>
    escaped === undefined ? "" : (escapes[escaped] ?? ""),
  );
  return { value, length: match[0].length };
}
