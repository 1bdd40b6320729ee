import type { Command, Option } from "commander";
import { buildProgram } from "../../../automation/cli/main.js";
import { escapeTags, generatedPage, sentence } from "./markdown.js";

const optionLine = ({ flags, description, defaultValue }: Option): string => {
  const shown = defaultValue === undefined || defaultValue === false;
  const suffix = shown ? "" : ` Default: \`${String(defaultValue)}\`.`;
  return `- \`${flags}\`: ${escapeTags(description)}.${suffix}`;
};

const commandLines = (command: Command): string[] => [
  `## ${command.name()}`,
  "",
  sentence(escapeTags(command.description())),
  "",
  "```sh",
  `stackadm ${command.name()} ${command.usage()}`,
  "```",
  "",
  ...command.options.filter(({ hidden }) => !hidden).map(optionLine),
  "",
];

/** Returns the text of docs/reference/commands.md. */
export function commandsPage(program: Command = buildProgram()): string {
  return [
    ...generatedPage("Commands", "automation/cli/declare-commands.ts"),
    "All commands accept these options before or after the command:",
    "",
    ...program.options.map(optionLine),
    "",
    ...program.commands.flatMap(commandLines),
  ].join("\n");
}
