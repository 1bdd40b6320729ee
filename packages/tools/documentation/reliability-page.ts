import { generatedPage, table } from "./markdown.js";
import {
  longRuns,
  promiseSections,
  type PromiseSection,
  type ReliabilityPromise,
} from "./reliability-promises.js";

const linkTo = (test: string): string => `[${test}](../../test/${test}.test.ts)`;

/** Returns the number of runs in the last long run that kept the promises. */
const lastFigure = (): string => {
  const last = longRuns.at(-1);
  return last ? `${last.kept} of ${last.runs}` : "no long run";
};

const promiseLine = ({ promise, tests, inLongRun }: ReliabilityPromise): string => {
  const figure = inLongRun ? ` **${lastFigure()}**.` : "";
  return `- ${promise}${figure} ${tests.map(linkTo).join(", ")}`;
};

const sectionLines = ({ title, promises }: PromiseSection): string[] => [
  `## ${title}`,
  "",
  ...promises.map(promiseLine),
  "",
];

const longRunLines = [
  "## Long run",
  "",
  `${linkTo("lab/random")} creates a cluster, causes one fault at a moment drawn from a seed, runs \`up\` at most twice more, and destroys the cluster, while objects of other users exist. The next \`up\` must find nothing to do. Eleven seeds in a row have all faults: the engine or its worker process is killed; SSH is cut; the control plane is reset; a worker's server is deleted; the cloud controller is killed; one write to the cloud gets 409, 500 or 503, or its answer is lost; 5 % of all calls fail.`,
  "",
  ...table(
    ["Date", "Seeds", "Runs", "Hit", "After one more `up`", "Failed"],
    longRuns.map(({ date, seeds, runs, hit, afterOneMoreUp, kept }) => [
      date,
      seeds,
      ...[runs, hit, afterOneMoreUp, runs - kept].map(String),
    ]),
  ),
  "",
  ...longRuns.map(({ date, remark }) => `- ${date}: ${remark}`),
  "",
  "_Hit_: the fault had an effect. CI makes three runs; the command for a long run is in [CONTRIBUTING](../../CONTRIBUTING.md#tests).",
  "",
];

/** Returns the text of docs/reference/reliability.md. */
export const reliabilityPage = (): string =>
  [
    ...generatedPage("Reliability", "packages/tools/documentation/reliability-promises.ts"),
    "What stackadm promises, and which tests fail if a promise is broken. The first word of a test is its kind:",
    "",
    "- `lab`: on [the lab](../../packages/lab/README.md), with OpenStack's services, and containers as machines. No other cloud was ever used; what ran where is in the [support matrix](support-matrix.md).",
    "- `engine`: the real Pulumi engine and plugins, against small local servers.",
    "- `commands`: the command line, against a fake engine and a fake cloud.",
    "- `scripts`: the machine scripts, in a sandbox. `graph`: what the program registers. `unit`: functions.",
    "",
    `**${lastFigure()}** means: in so many runs of the last [long run](#long-run), the promise was kept.`,
    "",
    ...promiseSections.flatMap(sectionLines),
    ...longRunLines,
    "## Related",
    "",
    "- [Support matrix](support-matrix.md)",
    "- [Failure codes](failures.md)",
    "- [Architecture](../../ARCHITECTURE.md)",
    "",
  ].join("\n");
