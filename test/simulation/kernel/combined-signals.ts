/**
 * Signals of AbortSignal.any in a simulation. Node keeps such a signal for as long as it has
 * listeners, and a program that has crashed never removes its own: a seed left 3 MB behind.
 */

/** Records the listeners of each signal. Returns a function that removes them. */
export function recordCombinedListeners(): () => void {
  const combine = AbortSignal.any;
  const recorded: (() => void)[] = [];
  AbortSignal.any = (signals) => {
    const signal = combine.call(AbortSignal, signals);
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (...listener: Parameters<typeof add>) => {
      add(...listener);
      recorded.push(() => signal.removeEventListener(...listener));
    };
    return signal;
  };
  return () => {
    AbortSignal.any = combine;
    for (const remove of recorded) remove();
  };
}
