import { randomUUID } from "node:crypto";

/*
 * A placeholder is a text that stands for a value that is known only during the run, such as the ID
 * of a network that the same program creates. A specification with placeholders is plain data: it
 * can be checked and planned before anything exists. components/pulumi/placeholders.ts replaces a
 * placeholder by its value where a resource uses the value.
 */

/** Mark in all placeholders of this process. It is random, so no user can write a placeholder. */
const mark = `output ${randomUUID()}`;

let created = 0;

/** Returns a new placeholder for the value at `path` in the arguments of a cluster. */
export const createPlaceholder = (path: string): string => {
  created += 1;
  return `<${mark} ${String(created)} ${path}>`;
};

const pattern = new RegExp(`(<${mark} [^>]*>)`);

/** Returns whether the text is a placeholder. */
export const isPlaceholder = (text: string): boolean =>
  splitAtPlaceholders(text).join() === `,${text},`;

/**
 * Returns the parts of a text. Parts with odd positions are placeholders: a text without
 * placeholders has one part.
 */
export const splitAtPlaceholders = (text: string): readonly string[] => text.split(pattern);

/** Returns the path of the value for which the placeholder stands, such as `allowedCidrs.0`. */
export const getPlaceholderPath = (placeholder: string): string =>
  placeholder.slice(placeholder.lastIndexOf(" ") + 1, -1);
