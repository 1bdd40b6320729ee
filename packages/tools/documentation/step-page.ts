import { destroyOperation } from "../../../automation/operations/destroy.js";
import { forceDestroyOperation } from "../../../automation/operations/force-destroy.js";
import { refreshOperation } from "../../../automation/operations/refresh.js";
import { unlockOperation } from "../../../automation/operations/unlock.js";
import { upOperation } from "../../../automation/operations/up.js";
import type { Operation } from "../../../automation/steps/step.js";
import { generatedPage, table } from "./markdown.js";

/** Returns the steps of an operation as table rows. */
const stepRows = ({ steps }: Pick<Operation<never, unknown>, "steps">): string[][] =>
  steps.map((step, index) => [
    String(index + 1),
    step.title,
    "detect" in step ? "if needed" : "always",
    "describe" in step ? "yes" : "",
  ]);

const operations: readonly (readonly [string, Pick<Operation<never, unknown>, "steps">])[] = [
  ["up", upOperation],
  ["refresh", refreshOperation],
  ["destroy", destroyOperation],
  ["destroy --abandon", forceDestroyOperation],
  ["unlock", unlockOperation],
] as const;

/** Returns the text of docs/reference/steps.md. */
export const stepsPage = (): string =>
  [
    ...generatedPage("Steps of the operations", "automation/operations/"),
    "An operation first checks its guards (lock, project, identity, protection), and then runs these steps in order. `preview` and `up --expect-no-changes` only show the steps of `up`, and the plan before a `destroy` shows the steps of `destroy`.",
    ...operations.flatMap(([name, operation]) => [
      "",
      `## ${name}`,
      "",
      ...table(["", "Step", "Runs", "In the plan"], stepRows(operation)),
    ]),
    "",
  ].join("\n");
