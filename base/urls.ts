/** Addresses that may have a user and a password in them. */

/** User and password in an address, as far as there are any; a password may hold what should have been encoded. */
const login = /(?<=^[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/;

/** An address as people may see it. */
export const withoutPassword = (url: string): string =>
  url.replace(login, (found) => `${found.slice(0, -1).split(":")[0] ?? ""}@`.replace(/^@$/, ""));

/** The password in an address; undefined where there is none. */
export const passwordOf = (url: string): string | undefined =>
  /:(.+)@$/.exec(login.exec(url)?.[0] ?? "")?.[1];
