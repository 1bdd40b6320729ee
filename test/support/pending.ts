/** A resource of the stack `dev` as its state has it, and one whose making an engine began and did not end. */
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
