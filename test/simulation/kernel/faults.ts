/** How hostile the network and the timers of a world are at one time. */
export interface Faults {
  readonly network: {
    /**
     * The probability that a message is lost: the call stays silent until its connection breaks.
     */
    readonly lose: number;
    /** The probability that the connection breaks with a message, which may arrive or not. */
    readonly reset: number;
    /** The probability that a message takes up to `maxSlowMs`. */
    readonly slow: number;
    readonly maxSlowMs: number;
  };
  readonly timers: {
    /** The probability that a timer is late by up to `maxLateMs`. */
    readonly late: number;
    readonly maxLateMs: number;
  };
}

export const calm: Faults = {
  network: { lose: 0, reset: 0, slow: 0, maxSlowMs: 0 },
  timers: { late: 0, maxLateMs: 0 },
};
