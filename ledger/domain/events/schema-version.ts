/** The schema versions of the log. A version never changes what is stored. */

export type EventVersion = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** All readable versions, oldest first. The last is written when all replicas read it. */
export const eventVersions: readonly EventVersion[] = [1, 2, 3, 4, 5, 6, 7, 8];
