import { z } from "zod";
import { doc, list, record, shown, text } from "../arguments/values.js";

/** How cloud-init knows what a part is: by its first line. */
export const partTypes = {
  "#cloud-config": "text/cloud-config",
  "#!": "text/x-shellscript",
  "#cloud-boothook": "text/cloud-boothook",
} as const;
type Beginning = keyof typeof partTypes;

/** Between the parts of user data. */
export const partBoundary = "==stackadm==";

export const beginningOf = (part: string): Beginning | undefined =>
  (Object.keys(partTypes) as Beginning[]).find((one) => part.startsWith(one));

/** Nova takes 64 KiB of user data, in base64; the program's own part is less than 4. */
const most = 40_000;

const part = text(
  (one) => beginningOf(one) !== undefined && !one.includes(partBoundary),
  "is nothing that cloud-init knows by its first line; begin it with #cloud-config, #! or #cloud-boothook, and leave ==stackadm== out",
);

const step = (when: string) =>
  z
    .string({
      error: ({ input }) => `${shown(input)} is no script; write the lines of one for bash`,
    })
    .default("")
    .meta(
      doc(
        "in place",
        `Script for bash that runs as root on each of these machines ${when}. Runs again when it changes, and whenever the program prepares or joins the machine again: it has to bear that. It is no secret: it is kept on the machine and its output in the machine's log.`,
      ),
    );

/** What users add to the user data of their machines. */
export const ownCloudInit = list(part, 0, "a list of parts for cloud-init")
  .refine((all) => all.join("").length <= most, {
    error: `is more than Nova takes; use at most ${String(most)} characters in all`,
  })
  .default([])
  .meta(
    doc(
      "replaces nodes",
      "More parts for cloud-init, each beginning with `#cloud-config`, `#!` or `#cloud-boothook`. Lists of a cloud-config are appended to the program's own; a key that the program sets keeps its value. They are no secret: whoever may see the server can read them.",
    ),
  );

/** What users run on their machines. */
export const ownSteps = record({
  beforeKubeadm: step("before kubeadm does, when containerd runs and all packages are there"),
  afterKubeadm: step("when the machine is in the cluster, or a member of etcd"),
}).prefault({});
