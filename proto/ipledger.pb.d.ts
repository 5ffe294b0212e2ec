/** What codec.ts needs to know of the generated file; the messages' own types are in ipledger.ts. */
export const ipledger: { v1: object };
