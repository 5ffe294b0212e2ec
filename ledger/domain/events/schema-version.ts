/** The schema versions of the log. A new version does not change stored events. */

export type EventVersion = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** All readable versions, oldest first. The last one is written once all replicas read it. */
export const eventVersions: readonly EventVersion[] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
