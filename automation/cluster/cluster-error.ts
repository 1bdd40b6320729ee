/** The names by which programs know failures of the cluster operations. */
export {
  Failure as ClusterError,
  type FailureSubject as ErrorSubject,
} from "../../base/failure.js";
export { failureCodes as errorCodes, type FailureCode as ErrorCode } from "../../base/failures.js";
