import { z } from "zod";
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

export const findCloudInitHeader = (part: string): Beginning | undefined =>
  (Object.keys(cloudInitMimeTypes) as Beginning[]).find((one) => part.startsWith(one));

/**
 * Maximum length of all parts of the user together, in characters. Nova accepts 64 KiB of user data
 * in base64. The program's own part is less than 4 KiB.
 */
const most = 40_000;

const cloudInitPartSchema = textField(
  (one) => findCloudInitHeader(one) !== undefined && !one.includes(cloudInitPartBoundary),
  "is not a part for cloud-init; begin it with #cloud-config, #! or #cloud-boothook, and leave ==stackadm== out",
);

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

/** Cloud-init parts that users add to the user data of their machines. */
export const cloudInitSchema = list(cloudInitPartSchema, 0, "a list of parts for cloud-init")
  .refine((all) => all.join("").length <= most, {
    error: `is more than Nova accepts; use at most ${String(most)} characters in all`,
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
