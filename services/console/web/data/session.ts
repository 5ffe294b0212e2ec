/** The session of the person: read once, and again after a sign-in or sign-out. */
import type { Session } from '../../api/session.ts';
import { apiUrl, connection, post, request } from './client.ts';
import { createStore } from './store.ts';

export const session = createStore<Session | undefined>(undefined);

/** Whether the session ended without a sign-out. */
export const hasEnded = createStore(false);

const url = apiUrl(['session']);

function use(value: Session): void {
  hasEnded.set(!value.signedIn && (hasEnded.value || (session.value?.signedIn ?? false)));
  session.set(value);
  connection.set(value.signedIn ? 'connected' : 'signed out');
}

/** Resolves when the server has answered. The caller repeats it while the server is away. */
export const readSession = async (): Promise<void> => use(await request<Session>(url));

/** @throws RequestError if the token is not accepted */
export const signIn = async (token: string): Promise<void> => use(await post<Session>(url, { token }));

export async function signOut(): Promise<void> {
  await request(url, { method: 'DELETE', headers: { 'x-ipledger-console': '1' } });
  session.set(undefined);
  await readSession();
}
