/**
 * Returns a resource in the state of the stack `dev`. `creating` returns a pending create of such a
 * resource.
 */
export const resource = (
  type: string,
  name: string,
  inputs: Readonly<Record<string, unknown>> = {},
) => ({
  urn: `urn:pulumi:dev::stackadm::${type}::${name}`,
  type,
  custom: true,
  inputs: { ...inputs },
});
export const creating = (
  type: string,
  name: string,
  inputs: Readonly<Record<string, unknown>> = {},
) => ({
  type: "creating",
  resource: resource(type, name, inputs),
});
