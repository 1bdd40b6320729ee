import { Failure } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";

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

/**
 * Returns whether the user is not allowed to send the request, or the cloud does not know the path.
 * In both cases, it is unknown whether the requested objects exist.
 */
export const isHiddenFromUser = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "forbidden" || error.kind === "not-found");

/** Returns the error message in a response body. OpenStack services use several formats. */
export function parseErrorMessage(body: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return body.trim().slice(0, 300);
  }
  return sentenceIn(parsed) ?? body.trim().slice(0, 300);
}

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
  // Status 429 (too many requests) does not concern quotas. Messages with status 5xx may contain
  // words such as `exceed` for other reasons.
  const mayBeQuota = status < 500 && status !== 404 && status !== 429;
  const quota = mayBeQuota && /quota|OverLimit|exceed/i.test(reason);
  const tried = times === 1 ? "" : ` at the last of ${times} tries`;
  return new CloudError(
    quota ? "quota" : (kinds[status] ?? "failed"),
    `${what}: the cloud answered ${status}${tried}${reason === "" ? "" : `: ${reason}`}`,
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
