/** cloud.conf, the configuration that the cloud controller and the storage plugin read (pure). */

/** What the cloud controller and the storage plugin must know about the cloud. */
export interface CloudConf {
  /** Identity endpoint (Keystone v3). */
  readonly authUrl: string;
  readonly region: string;
  /** The cluster's own application credential; there is no way to write a user's password here. */
  readonly applicationCredentialId: string;
  readonly applicationCredentialSecret: string;
  /** Subnet that load balancers take their addresses and members from. */
  readonly subnetId: string;
  /** Network of that subnet. */
  readonly networkId: string;
  /** External network that services get their floating IPs from. */
  readonly floatingNetworkId: string;
  /** Octavia provider, `amphora`, `ovn` or the name that the cloud's operator gave. */
  readonly loadBalancerProvider: string;
  /** File inside the containers with the certificate of the cloud's own authority. @default none */
  readonly caFile?: string;
}

type Value = string | number | boolean;
type Section = Readonly<Record<string, Value | undefined>>;

/**
 * The text of cloud.conf.
 *
 * Every key appears once (a repeated key of a list type would append, of another type silently win)
 * and every value is quoted, so that `;`, `#` and blanks in a secret cannot end it.
 * Key names: the `gcfg` tags in pkg/client/client.go and pkg/openstack/openstack.go of
 * cloud-provider-openstack 1.36.
 */
export function renderCloudConf(conf: CloudConf): string {
  const sections: Readonly<Record<string, Section>> = {
    Global: {
      "auth-url": conf.authUrl,
      region: conf.region,
      "application-credential-id": conf.applicationCredentialId,
      "application-credential-secret": conf.applicationCredentialSecret,
      "ca-file": conf.caFile,
    },
    LoadBalancer: {
      "lb-provider": conf.loadBalancerProvider,
      "lb-method": loadBalancerMethod(conf.loadBalancerProvider),
      "subnet-id": conf.subnetId,
      "member-subnet-id": conf.subnetId,
      "network-id": conf.networkId,
      "floating-network-id": conf.floatingNetworkId,
      // Without a monitor, `externalTrafficPolicy: Local` sends clients to nodes without a pod.
      "create-monitor": true,
      "monitor-delay": "5s",
      "monitor-timeout": "3s",
      "monitor-max-retries": 1,
    },
    // The instance ID must not be looked up at a neighbour's metadata service when the drive is there.
    Metadata: { "search-order": "configDrive,metadataService" },
  };
  return Object.entries(sections).map(renderSection).join("\n");
}

/** OVN only spreads by source address and port; every other provider takes turns. */
export function loadBalancerMethod(provider: string): string {
  return provider === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN";
}

/**
 * A value in quotes. Rules of gopkg.in/gcfg.v1 (scanner.go, `unescape` in read.go): inside quotes a
 * backslash escapes only itself, a quote, `n` and `t`; a carriage return is dropped, NUL refused.
 */
export function quoteValue(key: string, value: Value): string {
  const text = String(value);
  const refused = ["\0", "\r"].some((character) => text.includes(character));
  if (refused || Buffer.from(text, "utf8").toString("utf8") !== text) {
    throw new RangeError(`cloud.conf: ${key} holds a character that cannot be written there`);
  }
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t");
  return `"${escaped}"`;
}

function renderSection([name, section]: readonly [string, Section]): string {
  const lines = Object.entries(section).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${quoteValue(key, value)}\n`],
  );
  return `[${name}]\n${lines.join("")}`;
}
