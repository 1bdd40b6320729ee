/** Whether `npm test lab -- --all` was asked for: also what takes long and resembles what the default set shows. */
export const everyExample = process.env["STACKADM_TEST_ALL"] === "1";
