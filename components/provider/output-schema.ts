import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { Cluster } from "../cluster.js";
import { listSeparateRoles, roleTable, type SeparateRole } from "../config/roles.js";

const described = (description: string): z.ZodString => z.string().meta({ description });

const nodeSchema = z
  .object({
    name: described("Name of the machine."),
    role: described("Role of the machine: `control-plane`, `worker`, `etcd` or `bastion`."),
    zone: described("Availability zone of the machine. Empty if Nova chooses the zone."),
    address: described("IPv4 address in the machines' network."),
    ipv6Address: described("IPv6 address, if the machine has one.").optional(),
    adminAddress: described("Address of the second interface, if the machine has one.").optional(),
    sshHost: described("Address for SSH, unless SSH goes through another machine.").optional(),
    sshThrough: described("Machine through which SSH reaches this machine.").optional(),
    sshUser: described("Login name for SSH."),
    serverId: described("ID of the server in Nova."),
  })
  .meta({ description: "Machine of a cluster.", typeName: "Node" });

const separateMachines = Object.fromEntries(
  listSeparateRoles().map((role) => [
    role,
    z
      .array(nodeSchema)
      .meta({ description: `The ${roleTable[role].title} machines.` })
      .optional(),
  ]),
) as Record<SeparateRole, z.ZodOptional<z.ZodArray<typeof nodeSchema>>>;

/** Schema of the outputs of a cluster that programs in all languages can read. */
export const clusterOutputsSchema = z.object({
  kubeconfig: described("Kubeconfig of the administrator.").meta({ acceptsOutput: "value" }),
  apiEndpoint: described("URL of the Kubernetes API: `https://203.0.113.7:6443`."),
  clusterId: described("UID of the namespace kube-system."),
  clusterName: described("Name of the cluster."),
  identity: described("12 random hexadecimal digits that mark all cloud objects of the cluster."),
  nodes: z.array(nodeSchema).meta({ description: "Machines that are nodes." }),
  separateMachines: z
    .object(separateMachines)
    .meta({ description: "Machines that are not nodes, by role." }),
  networkId: described("ID of the machines' network."),
  subnetId: described("ID of the machines' IPv4 subnet."),
  routerId: described("ID of the router, if the cluster knows one.").optional(),
  securityGroupIds: z
    .record(z.string(), z.string())
    .meta({ description: "IDs of the security groups, by role; `node` for all nodes." }),
  hostKeys: z
    .array(z.string())
    .meta({ description: "Lines of a known_hosts file, one for each machine." }),
  samples: z
    .object({
      namespace: described("Namespace of the samples."),
      external: described("Floating IP of the sample web server, if it has one.").optional(),
      internal: described("Internal address of the sample web server."),
      host: described("Host name that the ingress controller forwards.").optional(),
      claim: described("Name of the sample claim."),
      writerPod: described("Name of the pod that writes to the sample volume."),
    })
    .meta({ description: "Addresses and names of the sample workloads." })
    .optional(),
  ingress: z
    .object({
      address: described("Address of the ingress controller."),
      public: z.boolean().meta({ description: "Whether the address is a floating IP." }),
    })
    .meta({ description: "Address of the ingress controller." })
    .optional(),
});

type OutputValues = z.output<typeof clusterOutputsSchema>;
export type ClusterOutputName = keyof OutputValues;

type ValuesOfCluster = { [Name in ClusterOutputName]: pulumi.Unwrap<Cluster[Name]> };

/** Fails to compile if an output of {@link Cluster} has another type than its schema. */
export const toOutputValues = (values: ValuesOfCluster): OutputValues => values;
