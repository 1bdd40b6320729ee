import { toYaml } from "../../../base/yaml.js";
import type { LabSettings } from "../settings.js";
import { catalogApiPorts, managementPorts, getTlsPort } from "./configuration/common.js";

/** Files with the APIs' certificate and key, for nginx. */
export const tlsFiles = {
  certificate: "/etc/lab/tls/server.crt",
  privateKey: "/etc/lab/tls/server.key",
};

/** Returns the nginx server block that serves the signed apt repositories on a separate port. */
export const renderPackageServer = ({ management }: LabSettings): string => `server {
  listen ${management.cloud}:${managementPorts.packages};
  root /srv/site/packages;
  autoindex on;
  access_log off;
}
`;

const tlsServer = ({ management }: LabSettings, port: number): string => `server {
  listen ${management.cloud}:${getTlsPort(port)} ssl;
  location / {
    proxy_pass http://${management.cloud}:${port};
  }
}
`;

/**
 * Returns the nginx server blocks that terminate TLS for the APIs. nginx passes on the host and the
 * scheme of the request, because services build the links in their answers from these values.
 */
export const renderTlsServers = (
  settings: LabSettings,
): string => `ssl_certificate ${tlsFiles.certificate};
ssl_certificate_key ${tlsFiles.privateKey};
client_max_body_size 0;
proxy_http_version 1.1;
proxy_read_timeout 300s;
proxy_set_header Host $http_host;
proxy_set_header X-Forwarded-Proto $scheme;
${catalogApiPorts.map((port) => tlsServer(settings, port)).join("")}`;

/** Returns the address of the registry in plain HTTP. */
export const getRegistryAddress = ({ management }: LabSettings): string =>
  `http://${management.cloud}:${managementPorts.registry}`;

/**
 * Returns the configuration of docker-registry. The registry serves a storage folder that the lab
 * builds on the host.
 */
export const renderRegistryConfiguration = ({ management }: LabSettings): string =>
  toYaml({
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: "/srv/site/registry" },
      maintenance: { readonly: { enabled: true }, uploadpurging: { enabled: false } },
    },
    http: { addr: `${management.cloud}:${managementPorts.registry}` },
  });
