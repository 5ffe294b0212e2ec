/** Whether a value has rested, so that values between two selections are not looked up. */
import { useEffect, useState } from 'preact/hooks';

/** The time until a value counts as rested: arrow keys move over cells that need no data. */
const restMs = 200;

export function useRested(value: string): boolean {
  const [rested, setRested] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested === value;
}
