/** Public interface of `@stackadm/lab`, for tests that need an OpenStack. */
export type { Progress, Step } from "../../base/progress.js";
export { silentProgress } from "../../base/progress.js";
export { extraNames, labAdd, labDown, labStatus, labUp } from "./lab.js";
export type { LabFacts, LabStatus, LabUpOptions } from "./lab.js";
