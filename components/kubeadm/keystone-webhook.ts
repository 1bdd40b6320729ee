/**
 * Address of the Keystone webhook on each control plane. Only the API server of the same machine
 * calls the webhook.
 */
export const keystoneWebhook = { address: "127.0.0.1", port: 8443 } as const;

const name = "keystone";
const user = "kube-apiserver";

/**
 * Returns the kubeconfig with which the API server calls the webhook. The kubeconfig pins the
 * webhook's certificate, because another program on the machine could listen on the port first.
 */
export const webhookKubeconfig = (certificate: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name,
      cluster: {
        server: `https://${keystoneWebhook.address}:${String(keystoneWebhook.port)}/webhook`,
        "certificate-authority-data": Buffer.from(certificate).toString("base64"),
      },
    },
  ],
  users: [{ name: user, user: {} }],
  contexts: [{ name, context: { cluster: name, user } }],
  "current-context": name,
});
