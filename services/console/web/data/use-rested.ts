/** Whether a value has rested, so that a value that passes by is not looked up. */
import { useEffect, useState } from 'preact/hooks';

/** A selection that moves with an arrow key needs nothing of the cells between. */
const restMs = 200;

export function useRested(value: string): boolean {
  const [rested, setRested] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested === value;
}
