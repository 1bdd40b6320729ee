import { toYaml } from "../../base/yaml.js";
import type { LabSettings } from "../settings.js";
import { ports } from "./configuration/common.js";

/** nginx: the signed apt repository for the servers, read-only. */
export const packageSite = ({ management }: LabSettings): string => `server {
  listen ${management.cloud}:${ports.packages};
  root /srv/site/apt;
  autoindex on;
  access_log off;
}
`;

/** Debian's docker-registry over the folder that is built on the host. */
export const registryConfiguration = ({ management }: LabSettings): string =>
  toYaml({
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: "/srv/site/registry" },
      maintenance: { readonly: { enabled: true }, uploadpurging: { enabled: false } },
    },
    http: { addr: `${management.cloud}:${ports.registry}` },
  });
