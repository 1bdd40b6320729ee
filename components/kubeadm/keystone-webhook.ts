/** Beside each API server, which alone asks it: nobody reaches it from elsewhere. */
export const keystoneWebhook = { address: "127.0.0.1", port: 8443 } as const;

const name = "keystone";
const user = "kube-apiserver";

/** How the API server finds the webhook and knows it: any program of the machine could listen there before it does. */
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
