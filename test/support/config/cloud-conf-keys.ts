import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  getCloudConfKey,
  loadBalancerClassesSchema,
  loadBalancerKeySchemas,
  cloudConfSectionSchemas,
  reservedCloudConfKeys,
} from "../../../components/config/cloud/cloud-conf-keys.js";

/** Minor version of cloud-provider-openstack from which the keys in the fixture were recorded. */
export const keysOf = "1.36";

/** Returns every key that cloud-provider-openstack declares, as `section key`. */
export const declaredKeys = (): string[] =>
  readFileSync(join(__dirname, "..", "..", "fixtures", `cloud-conf-keys-${keysOf}.txt`), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" ").slice(0, 2).join(" "));

const places = Object.keys(loadBalancerClassesSchema.unwrap().valueType.shape);
const sections: Readonly<Record<string, readonly string[]>> = {
  Global: [
    ...Object.keys(cloudConfSectionSchemas.global),
    ...Object.keys(reservedCloudConfKeys.global),
  ],
  LoadBalancer: [
    ...["enabled", "provider"],
    ...Object.keys(loadBalancerKeySchemas),
    ...Object.keys(reservedCloudConfKeys.loadBalancer),
  ],
  LoadBalancerClass: [...places, "memberSubnetId"],
  Networking: Object.keys(cloudConfSectionSchemas.networking),
  Route: Object.keys(reservedCloudConfKeys.route),
  Metadata: Object.keys(cloudConfSectionSchemas.metadata),
  BlockStorage: Object.keys(cloudConfSectionSchemas.blockStorage),
  KeyManager: Object.keys(cloudConfSectionSchemas.keyManager),
};

/**
 * Returns every key that the configuration schema accepts or explicitly refuses, as `section key`.
 */
export const knownKeys = (): string[] =>
  Object.entries(sections).flatMap(([section, keys]) =>
    keys.map((key) => `${section} ${getCloudConfKey(key)}`),
  );
