import {
  variableSections,
  type EnvironmentVariable,
  type VariableSection,
} from "./environment-variables.js";
import { generatedPage } from "./markdown.js";

const variableLine = ({ name, meaning, default: otherwise, readBy }: EnvironmentVariable) => {
  const fallback = otherwise === undefined ? "" : ` Default: ${otherwise}.`;
  return `- \`${name}\`: ${meaning}.${fallback} Read by ${readBy.join(" and ")}.`;
};

const sectionLines = ({ title, intro, variables, remarks = [] }: VariableSection): string[] => [
  `## ${title}`,
  "",
  ...intro.flatMap((paragraph) => [paragraph, ""]),
  ...variables.map(variableLine),
  "",
  ...remarks.flatMap((paragraph) => [paragraph, ""]),
];

const lastSections = [
  "## If it fails",
  "",
  "- `PULUMI_PARALLEL: '0' cannot be used.` and similar: the message says which values are valid. Exit code 2.",
  "- `PULUMI_BACKEND_URL: ... is not the address of a backend.`: write one like `file:///srv/stacks` or `s3://bucket`.",
  "- `No cloud is configured`: set `openstack:cloud` in the stack or `OS_CLOUD`, or source an openrc file.",
  "",
  "## Related",
  "",
  "- [Cloud connection](../set-up/cloud-connection.md)",
  "- [Share a stack](../team/share-a-stack.md)",
  "- [Install](../start/install.md)",
  "",
];

/** Returns the text of docs/reference/environment.md. */
export const environmentPage = (): string =>
  [
    ...generatedPage(
      "Environment variables",
      "packages/tools/documentation/environment-variables.ts",
    ),
    "Variables that `stackadm` and its test equipment read. Settings of a cluster are not variables: see the [configuration](configuration/README.md).",
    "",
    ...variableSections.flatMap(sectionLines),
    ...lastSections,
  ].join("\n");
