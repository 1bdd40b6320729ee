import { z } from "zod";
import type { CloudClient, ServiceType } from "./cloud-client.js";

const linksSchema = z.array(z.object({ rel: z.string(), href: z.string() }));

/**
 * Returns the link to the next page. Services write the link into `<key>_links`, `links.next` or
 * `next`.
 */
function nextPage(answer: Record<string, unknown>, key: string): string | undefined {
  const links = linksSchema.safeParse(answer[`${key}_links`]);
  if (links.success) return links.data.find(({ rel }) => rel === "next")?.href;
  const plain = answer["next"];
  if (typeof plain === "string") return plain;
  const nested = answer["links"];
  const next =
    typeof nested === "object" && nested !== null ? (nested as { next?: unknown }).next : undefined;
  return typeof next === "string" ? next : undefined;
}

/**
 * Returns the elements of a collection from all its pages. Checks each element against `schema`.
 */
export async function listAll<T>(
  client: CloudClient,
  service: ServiceType,
  path: string,
  { key, schema }: { key: string; schema: z.ZodType<T> },
): Promise<T[]> {
  const found: T[] = [];
  const seen = new Set<string>();
  let page: string | undefined = path;
  while (page !== undefined && !seen.has(page)) {
    seen.add(page);
    const answer = (await client.request(service, "GET", page)) as Record<string, unknown>;
    found.push(...z.array(schema).parse(answer[key] ?? []));
    page = sameCollection(nextPage(answer, key), path);
  }
  return found;
}

/**
 * Returns the path of the next page: the collection's path with the query of the link. Ignores the
 * host and the path of the link, because they may differ from the host and the path of the
 * endpoint. Adds parameters of the first query that are missing in the link, because Octavia leaves
 * out the project.
 */
function sameCollection(href: string | undefined, path: string): string | undefined {
  if (href === undefined) return undefined;
  const [collection = path, own] = path.split("?");
  const query = new URL(href, "http://placeholder").searchParams;
  const asked = [...new URLSearchParams(own)].filter(([name]) => !query.has(name));
  for (const [name, value] of asked) query.append(name, value);
  return query.size === 0 ? collection : `${collection}?${query.toString()}`;
}
