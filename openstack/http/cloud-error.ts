import { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";
import { parseJsonBody } from "./http-exchange.js";

/** Kind of a failed request to the cloud. */
export type CloudErrorKind =
  | "configuration"
  | "unreachable"
  | "untrusted"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "quota"
  | "failed";

const codes: Readonly<Record<CloudErrorKind, FailureCode>> = {
  configuration: "CLOUD_NOT_CONFIGURED",
  unreachable: "CLOUD_UNREACHABLE",
  untrusted: "CLOUD_UNTRUSTED",
  unauthenticated: "AUTH_FAILED",
  forbidden: "FORBIDDEN",
  "not-found": "NOT_FOUND",
  conflict: "FAILED",
  quota: "QUOTA_EXCEEDED",
  failed: "FAILED",
};

/** Error for a request that the cloud refused or did not answer. */
export class CloudError extends Failure {
  constructor(
    readonly kind: CloudErrorKind,
    message: string,
    hint?: string,
    /** HTTP status of the response. Undefined: there was no response. */
    readonly status?: number,
  ) {
    super(codes[kind], message, hint);
    this.name = "CloudError";
  }
}

/** Statuses of a service, or of a gateway in front of it, that does not know the request. */
const unknownRequests: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/**
 * Returns whether the user is not allowed to send the request, or no service knows the request. In
 * these cases, it is unknown whether the requested objects exist.
 */
export const isHiddenFromUser = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "forbidden" || unknownRequests.has(error.status));

/** Returns whether the service itself refused the request, or does not have the object. */
export const isDeniedByService = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "forbidden" || error.kind === "not-found");

/** Returns the error message in a response body. OpenStack services use several formats. */
export const parseErrorMessage = (body: string): string =>
  sentenceIn(parseJsonBody(body)) ?? body.trim().slice(0, 300);

function sentenceIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const record = value as Record<string, unknown>;
  for (const key of ["message", "faultstring", "debuginfo"]) {
    const text = record[key];
    if (typeof text === "string" && text !== "") return text;
  }
  for (const inner of Object.values(record)) {
    const found = sentenceIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const kinds: Readonly<Record<number, CloudErrorKind>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "quota",
};

/** Forms of a 404 response by an OpenStack service, each with the fields that no proxy writes. */
const notFoundSchema = z.union([
  // Octavia.
  z.object({ faultcode: z.string(), faultstring: z.string() }),
  z.object({ NeutronError: z.union([z.string(), z.looseObject({ message: z.string() })]) }),
  // Glance, Barbican, and all services for an unknown path.
  z.object({
    title: z.string(),
    code: z.union([z.literal(404), z.string().startsWith("404")]),
  }),
  // Nova and Cinder, and Keystone.
  z.object({ itemNotFound: z.object({ code: z.literal(404) }) }),
  z.object({ error: z.object({ code: z.literal(404) }) }),
]);

/** Pattern of Glance's page if a proxy removed the request's header `Accept`. */
const glancePage = /^<html>\s*<head>\s*<title>404 [^<]*<\/title>[^]*<h1>404 [^<]*<\/h1>[^<]*image/;

/**
 * Returns whether the body of a 404 response comes from an OpenStack service. Only then the object
 * does not exist. A proxy or an ingress answers 404, too, for example while the ingress reloads.
 */
export const isNotFoundByService = (body: string): boolean =>
  notFoundSchema.safeParse(parseJsonBody(body)).success || glancePage.test(body);

/**
 * Returns the error for a response with an error status.
 *
 * @param times number of tries of the request
 */
export function createStatusError(
  what: string,
  status: number,
  body: string,
  times = 1,
): CloudError {
  const reason = parseErrorMessage(body);
  const why = reason === "" ? "" : `: ${reason}`;
  if (status === 404 && !isNotFoundByService(body))
    return new CloudError(
      "failed",
      `${what}: a proxy or ingress answered 404 instead of the cloud's service${why}`,
      "Run the same command again in a few minutes. If the error stays, compare the addresses in `openstack catalog list` with the cloud's documentation.",
      status,
    );
  // Status 429 (too many requests) does not concern quotas. Messages with status 5xx may contain
  // words such as `exceed` for other reasons.
  const mayBeQuota = status < 500 && status !== 404 && status !== 429;
  const quota = mayBeQuota && /quota|OverLimit|exceed/i.test(reason);
  const tried = times === 1 ? "" : ` at the last of ${times} tries`;
  return new CloudError(
    quota ? "quota" : (kinds[status] ?? "failed"),
    `${what}: the cloud answered ${status}${tried}${why}`,
    undefined,
    status,
  );
}

/** Throws the error for a successful response whose body is not JSON. */
export function throwNotJson(what: string): never {
  throw new CloudError(
    "failed",
    `${what} got an answer that is not JSON.`,
    "A proxy or a network's sign-in page may answer instead of the cloud: open the address in a browser.",
  );
}
