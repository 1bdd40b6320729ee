/** Address of the Keystone webhook on each control plane: only the local API server calls it. */
export const keystoneWebhook = { address: "127.0.0.1", port: 8443 } as const;

const name = "keystone";
const user = "kube-apiserver";

/**
 * Returns the API server's kubeconfig for the webhook. It pins the certificate, because another
 * program on the machine could take the port first.
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
