/** The schema versions of the log. A version adds event types, fields or values; it never changes what is stored. */

export type EventVersion = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** All versions that this program reads, oldest first. It writes the last one as soon as all replicas can read it. */
export const eventVersions: readonly EventVersion[] = [1, 2, 3, 4, 5, 6, 7];
