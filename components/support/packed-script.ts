import { gunzipSync, gzipSync, strFromU8, strToU8 } from "fflate";

/*
 * The state has each script twice, and the engine writes the whole state at the begin and the end of every step: what is packed
 * makes each of them half as large. Not by Node's zlib, whose bytes differ between releases and processors: the same text has to
 * be the same input for whoever runs the program.
 */

// In braces: bash begins with none of it before it has all of it.
const first = "{ packed=$(base64 -d <<<'";
const last = `' | gunzip) || exit; eval "$packed"; }\n`;

/** All machines of a role have the same scripts. */
const known = new Map<string, string>();

/** A program for bash that does what `script` does. What arrives in part does nothing, and fails. */
export function packed(script: string): string {
  const before = known.get(script);
  if (before !== undefined) return before;
  const bytes = gzipSync(strToU8(script), { level: 9, mtime: 0 });
  const program = first + Buffer.from(bytes).toString("base64") + last;
  known.set(script, program);
  return program;
}

/** What `packed` made of a script is made a script again, wherever it stands in a text. */
export function unpacked(text: string): string {
  const from = text.indexOf(first);
  const to = text.indexOf(last, from);
  if (from < 0 || to < 0) return text;
  const bytes = Buffer.from(text.slice(from + first.length, to), "base64");
  return text.slice(0, from) + strFromU8(gunzipSync(bytes));
}
