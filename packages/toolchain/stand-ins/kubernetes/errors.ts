import { Metadata, status } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { Any } from "google-protobuf/google/protobuf/any_pb.js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { formatId, getName } from "./objects/object-fields.js";
import { encodeStruct } from "../plugin/values.js";
import type { JsonObject } from "../plugin/values.js";

/**
 * Error for an object that exists but is not ready. Contains the last known state of the object.
 */
export class NotReadyError extends Error {
  constructor(
    message: string,
    readonly live: JsonObject,
    /** Problems of the object when the wait ended. Each is one sentence. */
    readonly problems: readonly string[] = [],
  ) {
    super(message);
    this.name = "NotReadyError";
  }
}

export const createTimedOutError = (live: JsonObject, problems: readonly string[]): NotReadyError =>
  new NotReadyError(`'${getName(live)}' timed out waiting to be Ready`, live, problems);
export const createCancelledError = (
  live: JsonObject,
  problems: readonly string[],
): NotReadyError =>
  new NotReadyError(`Resource operation was cancelled for '${getName(live)}'`, live, problems);
export const createInitFailedError = (
  live: JsonObject,
  problems: readonly string[],
): NotReadyError =>
  new NotReadyError(
    `Resource '${getName(live)}' was created but failed to initialize`,
    live,
    problems,
  );

/**
 * Error of an operation that failed, but left an object whose state must be saved. The engine saves
 * `state`, and saves the reasons as init errors. In the next run, the engine tries an update.
 */
export class PartialError extends Error {
  constructor(
    message: string,
    readonly live: JsonObject,
    readonly state: JsonObject,
    readonly details: { readonly inputs?: JsonObject; readonly problems?: readonly string[] } = {},
  ) {
    super(message);
    this.name = "PartialError";
  }
}

/**
 * Returns the error for gRPC. The details of a partial error contain Pulumi's
 * ErrorResourceInitFailed.
 */
export function toServiceError(error: unknown): Partial<ServiceError> {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof PartialError)) return { code: status.UNKNOWN, details: message };
  const failed = new ErrorResourceInitFailed();
  failed.setId(formatId(error.live));
  failed.setProperties(encodeStruct(error.state));
  failed.setReasonsList([message, ...(error.details.problems ?? [])]);
  if (error.details.inputs) failed.setInputs(encodeStruct(error.details.inputs));
  const detail = new Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const all = new Status();
  all.setCode(status.UNKNOWN);
  all.setMessage(message);
  all.addDetails(detail);
  const metadata = new Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(all.serializeBinary()));
  return { code: status.UNKNOWN, details: message, metadata };
}
