import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { EventRow } from '../api/event.ts';
import type { HttpError } from '../http/http-error.ts';
import { Query } from '../http/query.ts';
import type { LiveEvents } from '../ledger/live-events.ts';
import { Sessions } from '../session/sessions.ts';
import { createEventStreams } from './event-stream.ts';

const row = (seq: number, more: Partial<EventRow> = {}): EventRow => ({
  seq,
  at: '',
  type: 'AddressAllocated',
  actor: '',
  subnet: 'lan',
  addresses: [],
  pod: null,
  node: '',
  cause: '',
  text: '',
  before: {},
  ...more,
});

/** A browser that reads only after `read()`, so that all that is written stays unsent. */
class SilentBrowser extends EventEmitter {
  text = '';
  isDestroyed = false;
  socket = undefined;
  #read = 0;
  get writableLength(): number {
    return this.text.length - this.#read;
  }
  read(): void {
    this.#read = this.text.length;
    this.emit('drain');
  }
  writeHead(): this {
    return this;
  }
  write(text: string): boolean {
    this.text += text;
    return this.writableLength < 65_536;
  }
  end(text = ''): void {
    this.text += text;
    this.emit('close');
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

interface Options {
  readonly verify?: () => Promise<void>;
  readonly keepaliveMs?: number;
  readonly after?: (seq: number) => readonly EventRow[];
  readonly headers?: IncomingMessage['headers'];
}

function openStream(query = '', options: Options = {}) {
  const listeners = new Set<(rows: readonly EventRow[]) => void>();
  const events = {
    position: { epoch: 1, seq: 9, hash: '' },
    subscribe: (listen: (rows: readonly EventRow[]) => void) => {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    subscribeLost: () => () => undefined,
    after: options.after ?? (() => []),
  } as unknown as LiveEvents;
  const browser = new SilentBrowser();
  const ending = new AbortController();
  const { stream, count } = createEventStreams({
    events,
    signal: ending.signal,
    keepaliveMs: options.keepaliveMs ?? 60_000,
  });
  const viewer = { session: undefined, verify: options.verify ?? (async () => undefined) };
  const request = { headers: options.headers ?? {} } as IncomingMessage;
  stream(viewer, new Query(new URLSearchParams(query)), request, browser as unknown as ServerResponse);
  return {
    browser,
    ending,
    count,
    emit: (...rows: EventRow[]) => listeners.forEach((listen) => listen(rows)),
    listeners,
  };
}

/** Opens streams of one person in new sessions, and returns the statuses of the failures. */
async function openAll(count: number, afterEach: (browser: SilentBrowser) => void): Promise<number[]> {
  const sessions = new Sessions({
    connect: () => ({ ...fakeLedgerClient({}), close: () => undefined }),
    verify: async () => 'alice',
  });
  const events = { subscribe: () => () => undefined, subscribeLost: () => () => undefined } as unknown as LiveEvents;
  const { signal } = new AbortController();
  const { stream } = createEventStreams({ events, signal, keepaliveMs: 60_000 });
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) {
    const { session } = await sessions.create('token');
    const browser = new SilentBrowser();
    const viewer = { session, verify: async () => undefined };
    const query = new Query(new URLSearchParams());
    try {
      stream(viewer, query, { headers: {} } as IncomingMessage, browser as unknown as ServerResponse);
      afterEach(browser);
    } catch (error) {
      statuses.push((error as HttpError).status);
    }
  }
  return statuses;
}

describe('The event streams of a person', () => {
  it('The event streams of a person are at most eight at a time, in all sessions', async () => {
    const open: SilentBrowser[] = [];
    expect(await openAll(10, (browser) => open.push(browser))).to.deep.equal([503, 503]);
    for (const browser of open) browser.end();
  });

  it('The event streams of a person cannot be opened again and again', async () => {
    const refused = await openAll(40, (browser) => browser.end());
    expect(refused.length).to.be.above(10);
    expect(new Set(refused)).to.deep.equal(new Set([429]));
  });
});

describe('An event stream', () => {
  it('An event stream sends the events that match all filters', () => {
    const { browser, emit, ending } = openStream('subnet=lan&node=a');
    emit(row(1, { node: 'a' }), row(2, { node: 'b' }), row(3, { node: 'a', subnet: 'san' }));
    expect(browser.text.match(/^id: \d+$/gm)).to.deep.equal(['id: 1']);
    ending.abort();
  });

  it('An event stream finds an IPv6 address in any spelling', () => {
    const { browser, emit, ending } = openStream('address=FD00:0::5');
    emit(row(1, { addresses: ['fd00::5'] }), row(2, { addresses: ['fd00::6'] }));
    expect(browser.text.match(/^id: \d+$/gm)).to.deep.equal(['id: 1']);
    ending.abort();
  });

  it('An event stream disconnects a browser that does not read, and keeps no events for it', () => {
    const { browser, emit, count, listeners } = openStream();
    const text = 'x'.repeat(100_000);
    for (let seq = 1; seq <= 20; seq++) emit(row(seq, { text }));
    expect(browser.isDestroyed).to.equal(true);
    expect(browser.text.length).to.be.below(1_300_000);
    expect([count(), listeners.size]).to.deep.equal([0, 0]);
  });

  it('An event stream sends missed events as fast as the browser reads, and then the events of the meantime', () => {
    const text = 'x'.repeat(1_000);
    const missed = Array.from({ length: 5_000 }, (_, index) => row(index + 1, { text }));
    const { browser, emit, ending } = openStream('from=0', { after: () => missed });
    emit(row(5_001), row(5_002));
    for (let unread = browser.writableLength; unread > 0; unread = browser.writableLength) {
      expect(unread).to.be.below(300_000);
      browser.read();
    }
    expect(browser.isDestroyed).to.equal(false);
    const ids = browser.text.match(/^id: \d+$/gm)?.map((id) => Number(id.slice(4)));
    expect(ids).to.deep.equal(Array.from({ length: 5_002 }, (_, index) => index + 1));
    ending.abort();
  });

  it('An event stream ends the stream of an EventSource with a message if missed events are no longer kept', () => {
    const after = (): never => {
      throw new IpledgerError('POSITION_GONE', 'load the list again');
    };
    const { browser, count } = openStream('from=3', { after, headers: { accept: 'text/event-stream' } });
    expect(browser.text).to.contain('event: end\ndata: {"code":"POSITION_GONE"');
    expect(count()).to.equal(0);
    expect(() => openStream('from=3', { after })).to.throw('load the list again');
  });

  it('An event stream ends with the reason when the session is no longer accepted, and with the program', async () => {
    const rejected = new IpledgerError('PERMISSION_DENIED', 'no rule');
    const { browser } = openStream('', { verify: () => Promise.reject(rejected), keepaliveMs: 1 });
    await EventEmitter.once(browser, 'close');
    expect(browser.text).to.contain('event: end\ndata: {"code":"PERMISSION_DENIED"');
    const other = openStream();
    other.ending.abort(new IpledgerError('UNAVAILABLE', 'the console stops'));
    expect(other.browser.text).to.contain('the console stops');
  });
});
