/**
 * Address of the Keystone webhook on each control plane. Only the API server on the same machine
 * connects to the webhook.
 */
export const keystoneWebhookAddress = { address: "127.0.0.1", port: 8443 } as const;

const name = "keystone";
const user = "kube-apiserver";

/**
 * Returns the kubeconfig with which the API server connects to the webhook. The API server then
 * accepts only the webhook's own certificate. Another program on the machine could use the
 * webhook's port first.
 */
export const buildWebhookKubeconfig = (certificate: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name,
      cluster: {
        server: `https://${keystoneWebhookAddress.address}:${String(keystoneWebhookAddress.port)}/webhook`,
        "certificate-authority-data": Buffer.from(certificate).toString("base64"),
      },
    },
  ],
  users: [{ name: user, user: {} }],
  contexts: [{ name, context: { cluster: name, user } }],
  "current-context": name,
});
