import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import { formatExistingNames, createProblem, createWarning, type Finding } from "./finding.js";
import { listAll } from "../client/paginate.js";
import type { ClusterRequirements, OctaviaRequirements } from "./cluster-requirements.js";

/**
 * Octavia provider, flavor or availability zone. If `enabled` is false, the cloud's operator has
 * disabled it.
 */
const choiceSchema = z.looseObject({
  id: z.string().optional(),
  name: z.string(),
  enabled: z.boolean().optional(),
});
type Choice = z.output<typeof choiceSchema>;

/** Octavia's list of providers, flavors or availability zones. */
interface Collection {
  /** Name of the list for messages, a plural noun. */
  readonly what: string;
  readonly path: string;
  readonly key: string;
  /** Returns the value of the element (provider, flavor or zone) in the specification. */
  readonly known: (choice: Choice) => string;
  /** Returns the text of the element in a message. */
  readonly shown: (choice: Choice) => string;
}

const name = (choice: Choice): string => choice.name;
const collections: Readonly<Record<keyof OctaviaRequirements, Collection>> = {
  providers: {
    what: "providers",
    path: "/lbaas/providers",
    key: "providers",
    known: name,
    shown: name,
  },
  flavors: {
    what: "flavors",
    path: "/lbaas/flavors",
    key: "flavors",
    known: ({ id = "" }) => id,
    shown: ({ id = "", name: called }) => `${id} (${called})`,
  },
  zones: {
    what: "zones",
    path: "/lbaas/availabilityzones",
    key: "availability_zones",
    known: name,
    shown: name,
  },
};

/**
 * Reports providers, flavors or zones in the specification that do not exist or are disabled. Sends
 * no request if the specification contains none.
 */
async function checkChoices(
  client: CloudClient,
  wanted: Readonly<Record<string, string>>,
  { what, path, key, ...of }: Collection,
): Promise<Finding[]> {
  const written = Object.entries(wanted);
  if (written.length === 0) return [];
  try {
    const all = await listAll(client, "load-balancer", path, { key, schema: choiceSchema });
    const open = all.filter(({ enabled }) => enabled !== false);
    return written
      .filter(([, value]) => !open.some((one) => of.known(one) === value))
      .map(([at, value]) =>
        createProblem(
          `${at}: '${value}' does not exist; ${formatExistingNames(open.map(of.shown))}`,
        ),
      );
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return written.map(([at, value]) =>
      createWarning(`${at}: cannot check '${value}': Octavia does not list its ${what} to you`),
    );
  }
}

/**
 * Reports a missing load-balancer service. Also reports providers, flavors and zones that Octavia
 * does not offer.
 */
export async function checkLoadBalancers(
  client: CloudClient,
  { counts, octavia }: ClusterRequirements,
): Promise<Finding[]> {
  if (octavia === undefined) return [];
  if (!client.offers("load-balancer"))
    return counts["load balancers"] > 0
      ? [
          createProblem(
            "load balancers: the cloud offers no load-balancer service; set loadBalancer.enabled to false and leave samples and the endpoint load-balancer out",
          ),
        ]
      : [];
  const kinds = Object.keys(collections) as (keyof OctaviaRequirements)[];
  const found = kinds.map((kind) => checkChoices(client, octavia[kind], collections[kind]));
  return (await Promise.all(found)).flat();
}

/**
 * Reports a problem if the load balancers need a certificate but the cloud has no Barbican. The
 * cloud controller reads the certificate from Barbican before it configures Octavia.
 */
export const checkKeyManager = (
  client: CloudClient,
  { certificate }: ClusterRequirements,
): Finding[] =>
  certificate === undefined || client.offers("key-manager")
    ? []
    : [
        createProblem(
          `${certificate}: the cloud offers no key-manager service; leave it out, or set loadBalancer.containerStore to external if Octavia reads certificates elsewhere`,
        ),
      ];
