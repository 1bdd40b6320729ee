import { gunzipSync, gzipSync, strFromU8, strToU8 } from "fflate";

/*
 * Compression of scripts. The state contains each script twice, and the engine writes the whole
 * state at the start and the end of every step: compressed scripts are half as large. Not by Node's
 * zlib, whose output differs between releases and processors: the same script must be the same
 * input for every user.
 */

// Braces make bash read the whole program before it runs any of it.
const first = "{ packed=$(base64 -d <<<'";
const last = `' | gunzip) || exit; eval "$packed"; }\n`;

/** Cache of compressed scripts: all machines of a role have the same scripts. */
const cache = new Map<string, string>();

/**
 * Returns a bash program that does the same as `script`. If it arrives only in part, it does
 * nothing and fails.
 */
export function packed(script: string): string {
  const before = cache.get(script);
  if (before !== undefined) return before;
  const bytes = gzipSync(strToU8(script), { level: 9, mtime: 0 });
  const program = first + Buffer.from(bytes).toString("base64") + last;
  cache.set(script, program);
  return program;
}

/** Returns the text with a program made by `packed` replaced by its script. */
export function unpacked(text: string): string {
  const from = text.indexOf(first);
  const to = text.indexOf(last, from);
  if (from < 0 || to < 0) return text;
  const bytes = Buffer.from(text.slice(from + first.length, to), "base64");
  return text.slice(0, from) + strFromU8(gunzipSync(bytes));
}
