/** The colour scheme of the reader, for pictures: they do not follow the style sheet. */
import { useEffect, useState } from 'preact/hooks';

/** Changes with the light or dark setting of the reader, and with the size of a pixel. */
export function useColourScheme(): string {
  const read = (): string => `${matchMedia('(prefers-color-scheme: dark)').matches} ${devicePixelRatio}`;
  const [scheme, set] = useState(read);
  useEffect(() => {
    const queries = ['(prefers-color-scheme: dark)', `(resolution: ${devicePixelRatio}dppx)`].map((query) =>
      matchMedia(query),
    );
    const change = (): void => set(read());
    for (const query of queries) query.addEventListener('change', change);
    return () => {
      for (const query of queries) query.removeEventListener('change', change);
    };
  }, [scheme]);
  return scheme;
}
