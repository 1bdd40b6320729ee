import { Failure } from "../base/failure.js";
import type { FailureCode } from "../base/failures.js";

/** What kind of answer the cloud gave. */
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

/** A cloud that refused, or was not there. */
export class CloudError extends Failure {
  constructor(
    readonly kind: CloudErrorKind,
    message: string,
    hint?: string,
    /** HTTP status of the answer; undefined when there was none. */
    readonly status?: number,
  ) {
    super(codes[kind], message, hint);
    this.name = "CloudError";
  }
}

/** Was the question refused, or is it one that this cloud does not know? Then nothing is known of the answer. */
export const isHidden = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "forbidden" || error.kind === "not-found");

/** OpenStack services word their errors in four shapes; this finds the sentence in each. */
export function messageInBody(body: string): string {
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
 * The error for an HTTP answer that is not a success.
 *
 * @param times how often it was asked for
 */
export function errorForStatus(what: string, status: number, body: string, times = 1): CloudError {
  const said = messageInBody(body);
  // Too many requests are no quota, and what breaks inside the cloud may exceed anything.
  const mayBeQuota = status < 500 && status !== 404 && status !== 429;
  const quota = mayBeQuota && /quota|OverLimit|exceed/i.test(said);
  const tried = times === 1 ? "" : ` at the last of ${times} tries`;
  return new CloudError(
    quota ? "quota" : (kinds[status] ?? "failed"),
    `${what}: the cloud answered ${status}${tried}${said === "" ? "" : `: ${said}`}`,
    undefined,
    status,
  );
}

/** For an answer that says that all is well, and no more. */
export function refuseText(what: string): never {
  throw new CloudError(
    "failed",
    `${what} was answered with something that is no JSON.`,
    "Something in between may answer for the cloud, like a proxy or a network's sign-in page: look at it with a browser.",
  );
}
