import {
  isDueForRenewal,
  parseClientCertificateValidity,
} from "../../components/identity/kubeconfig.js";
import type { NodeReport } from "../verify/read-nodes.js";

/*
 * Warnings about certificates that expire. Control planes renew their certificates without `up`.
 * The program fetches a new kubeconfig. Pure.
 */

type Nodes = readonly Pick<NodeReport, "name" | "certificate">[];

interface CertificateWarningOptions {
  readonly stack: string;
  /** Current time in milliseconds. @default the clock's time */
  readonly now?: number;
}

const moment = (end: string, now: number): string =>
  `${Date.parse(end) <= now ? "ended" : "ends"} at ${end}`;

/**
 * Returns warnings about certificates that were not renewed in time. Returns none if all
 * certificates were renewed.
 */
export function findCertificateWarnings(
  { nodes, kubeconfig }: { readonly nodes: Nodes; readonly kubeconfig: string },
  { stack, now = Date.now() }: CertificateWarningOptions,
): string[] {
  const late = nodes.flatMap(({ name, certificate }) => {
    if (!certificate || Date.parse(certificate.by) > now) return [];
    const { file, end } = certificate;
    const what = `${file} of ${name} ${moment(end, now)}`;
    return file.endsWith("ca.crt")
      ? [
          `${what}, and all certificates that it signed end then, too. Nothing renews a CA: see docs/operate/certificates.md`,
        ]
      : [
          `${what} and was not renewed in time; \`journalctl -u stackadm-certificates\` on that machine says why`,
        ];
  });
  const validity = parseClientCertificateValidity(kubeconfig);
  if (!validity || !isDueForRenewal(validity, now)) return late;
  const what = `the certificate of the stack's kubeconfig ${moment(validity.to, now)}`;
  return [...late, `${what}; renew it with \`stackadm up --stack ${stack}\``];
}

/**
 * Returns a sentence about the certificate that must be renewed first. Undefined if no node reports
 * a certificate.
 */
export const describeFirstExpiringCertificate = (nodes: Nodes): string | undefined => {
  const [first] = nodes
    .flatMap(({ name, certificate }) => (certificate ? [{ name, ...certificate }] : []))
    .sort((a, b) => Date.parse(a.by) - Date.parse(b.by));
  return first && `First certificate to end: ${first.file} of ${first.name}, at ${first.end}.`;
};
