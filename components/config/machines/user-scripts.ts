import { z } from "zod";
import { describeYamlError, parseYamlDocument } from "../../../base/yaml.js";
import { doc, list, strictObject, shortValue, textField } from "../../schema/fields.js";

/** MIME types of cloud-init parts, by the beginning of the part's first line. */
export const cloudInitMimeTypes = {
  "#cloud-config": "text/cloud-config",
  "#!": "text/x-shellscript",
  "#cloud-boothook": "text/cloud-boothook",
} as const;
type Beginning = keyof typeof cloudInitMimeTypes;

/** MIME boundary between the parts of user data. No part may contain this text. */
export const cloudInitPartBoundary = "==stackadm==";

/**
 * Returns the header in the first line of a part. The line of a script continues after `#!`. Other
 * headers are whole lines, because `#cloud-config-archive` is another format.
 */
export function findCloudInitHeader(part: string): Beginning | undefined {
  const [line = ""] = part.split("\n");
  return (Object.keys(cloudInitMimeTypes) as Beginning[]).find((one) =>
    one === "#!" ? line.startsWith(one) : line.trimEnd() === one,
  );
}

/**
 * Maximum length of all parts of the user together, in bytes. Nova accepts 65,535 bytes of user data
 * in base64. The program's own part is less than 4 KiB.
 */
const mostBytes = 40_000;
/** Number of bytes that the headers of a part add to the user data, at most. */
const headerBytes = 250;

/** Returns the reason why cloud-init could not read a cloud-config. "" if it can. */
function findYamlError(part: string): string {
  if (findCloudInitHeader(part) !== "#cloud-config") return "";
  const [wrong] = parseYamlDocument(part).errors;
  return wrong === undefined ? "" : describeYamlError(wrong);
}

const cloudInitPartSchema = textField(
  (one) => findCloudInitHeader(one) !== undefined && !one.includes(cloudInitPartBoundary),
  "is not a part for cloud-init; begin it with a line #cloud-config, #cloud-boothook or #!/bin/bash, and leave ==stackadm== out",
).refine((one) => findYamlError(one) === "", {
  error: ({ input }) => `is not YAML: ${findYamlError(String(input))}; write YAML`,
});

const step = (when: string) =>
  z
    .string({
      error: ({ input }) => `${shortValue(input)} is no script; write the lines of one for bash`,
    })
    .default("")
    .meta(
      doc(
        "in place",
        `Script for bash that runs as root on each of these machines ${when}. It runs again when it changes, and whenever the program prepares or joins the machine again, so it must be idempotent. Do not put secrets into it: it is stored on the machine and its output in the machine's log.`,
      ),
    );

const countBytes = (parts: readonly string[]): number =>
  parts.reduce((sum, part) => sum + Buffer.byteLength(part) + headerBytes, 0);

/** Cloud-init parts that users add to the user data of their machines. */
export const cloudInitSchema = list(cloudInitPartSchema, 0, "a list of parts for cloud-init")
  .refine((all) => countBytes(all) <= mostBytes, {
    error: ({ input }) =>
      `has ${String(countBytes(input as readonly string[]))} bytes, which is more than Nova accepts; use at most ${String(mostBytes)} bytes in all`,
  })
  .default([])
  .meta(
    doc(
      "replaces nodes",
      "More parts for cloud-init, each beginning with `#cloud-config`, `#!` or `#cloud-boothook`. Lists of a cloud-config are appended to the program's own; a key that the program sets keeps its value. Do not put secrets into them: everyone who may see the server can read them.",
    ),
  );

/** Scripts that users run on their machines. */
export const userScriptsSchema = strictObject({
  beforeKubeadm: step("before kubeadm, when containerd runs and all packages are installed"),
  afterKubeadm: step("when the machine is in the cluster, or a member of etcd"),
}).prefault({});

/** Bash scripts of the user. Empty text means no script. */
export interface UserScripts {
  readonly beforeKubeadm: string;
  readonly afterKubeadm: string;
}
