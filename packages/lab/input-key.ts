import { createHash } from "node:crypto";

/** Returns JSON with keys in alphabetical order, so that equal inputs give equal text. */
export function renderCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
        )
      : inner,
  );
}

/** Returns a key that identifies a build with these inputs: 12 hex digits of SHA-256. */
export const computeInputKey = (...inputs: readonly unknown[]): string =>
  createHash("sha256").update(renderCanonicalJson(inputs)).digest("hex").slice(0, 12);
