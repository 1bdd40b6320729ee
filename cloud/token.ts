import { z } from "zod";

const inUtc = (moment: string): string => moment.replace(/(\.\d+)?Z?$/, "Z");

/** Time in Keystone's notation, which is UTC without saying so, converted to ISO 8601. */
export const utcMoment = z
  .string()
  .nullish()
  .transform((end) => (end ? inUtc(end) : undefined));

/** Token of the identity service, reduced to the fields that are used. */
export const tokenSchema = z.object({
  token: z.object({
    // For credentials that expire, Keystone leaves out the Z.
    expires_at: z.string().transform(inUtc),
    user: z.object({
      id: z.string(),
      password_expires_at: utcMoment,
    }),
    project: z.object({ id: z.string(), name: z.string().default("") }).optional(),
    roles: z.array(z.looseObject({ name: z.string() })).default([]),
    application_credential: z.object({ restricted: z.boolean() }).optional(),
    catalog: z
      .array(
        z.looseObject({
          type: z.string(),
          endpoints: z.array(
            z.looseObject({
              interface: z.string(),
              region: z.string().nullish(),
              url: z.string(),
            }),
          ),
        }),
      )
      .default([]),
  }),
});
export type Token = z.infer<typeof tokenSchema>["token"];
