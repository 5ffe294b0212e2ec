/**
 * The live stream of events. It continues after the last event that arrived when the connection was
 * lost.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventRow } from '../../api/event.ts';
import type { ApiError } from '../../api/page.ts';
import { connection } from './client.ts';
import { withField } from './location.ts';
import { readSession } from './session.ts';
import { useStore } from './store.ts';

interface StreamHandlers {
  onEvent(event: EventRow): void;
  /** Called when the stream cannot continue where it was: the list must be read again. */
  onGap(): void;
}

const reopenMs = 2_000;

/**
 * Follows `url`, which has no `from`; "" follows nothing. Returns whether events arrive at this
 * moment.
 */
export function useStream(url: string, from: number, handlers: StreamHandlers): boolean {
  const [isLive, setLive] = useState(false);
  const current = useRef(handlers);
  current.current = handlers;
  const isSignedOut = useStore(connection) === 'signed out';
  useEffect(() => {
    if (url === '' || isSignedOut) return undefined;
    let [last, timer, source]: [number, number | undefined, EventSource | undefined] = [from, undefined, undefined];
    let isLeft = false;
    const open = (): void => {
      source = new EventSource(withField(url, 'from', String(last)));
      source.addEventListener('open', () => {
        setLive(true);
        if (connection.value === 'away') readSession().catch(() => undefined);
      });
      source.addEventListener('event', ({ data }: MessageEvent<string>) => {
        const event = JSON.parse(data) as EventRow;
        last = event.seq;
        current.current.onEvent(event);
      });
      source.addEventListener('end', ({ data }: MessageEvent<string>) => {
        source?.close();
        setLive(false);
        const { code } = JSON.parse(data) as ApiError;
        if (code === 'UNAUTHENTICATED') connection.set('signed out');
        else if (code === 'POSITION_GONE') current.current.onGap();
        else reopen();
      });
      source.addEventListener('error', () => {
        setLive(false);
        const isClosed = source?.readyState === EventSource.CLOSED;
        // The browser gives no reason: the server may be away, or the session has ended
        const then = isClosed ? reopen : () => undefined;
        readSession().then(then, then);
      });
    };
    const reopen = (): void => {
      clearTimeout(timer);
      if (!isLeft) timer = setTimeout(open, reopenMs);
    };
    open();
    return () => {
      isLeft = true;
      source?.close();
      clearTimeout(timer);
      setLive(false);
    };
  }, [url, from, isSignedOut]);
  return isLive;
}
