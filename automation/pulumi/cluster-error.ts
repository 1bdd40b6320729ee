/** Names under which the package exports the failures of cluster operations. */
export {
  Failure as ClusterError,
  type FailureSubject as ErrorSubject,
} from "../../base/failures/failure.js";
export {
  failureCodes as errorCodes,
  type FailureCode as ErrorCode,
} from "../../base/failures/failure-codes.js";
