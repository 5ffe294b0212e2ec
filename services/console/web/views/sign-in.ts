/**
 * The form that replaces every view while no person is signed in. The address of the page stays.
 */
import { useState } from 'preact/hooks';
import { messageOf } from '../data/client.ts';
import { hasEnded, session, signIn } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { html, type VNode } from '../parts/html.ts';
import { View } from '../parts/view.ts';

export function SignIn(): VNode {
  // A reply 401 ends the session before it is read again
  const wasSignedIn = [useStore(hasEnded), useStore(session)?.signedIn].includes(true);
  const [token, setToken] = useState('');
  const [error, setError] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await signIn(token.trim());
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return html`<${View} title="Sign in">
    <form class="panel narrow" onSubmit=${(event: Event) => void submit(event)}>
      ${wasSignedIn && html`<p>Your session has ended. Sign in again to see this page.</p>`}
      <p>
        The console uses your Kubernetes permissions. Make a token with${' '}
        <code>kubectl create token ACCOUNT --namespace NAMESPACE --audience ipledger</code>.
      </p>
      <label class="field">
        Kubernetes token
        <input
          type="password"
          name="token"
          autocomplete="off"
          required
          value=${token}
          onInput=${(event: Event) => setToken((event.target as HTMLInputElement).value)}
        />
      </label>
      ${error !== '' && html`<p class="trouble" role="alert">${error}</p>`}
      <button class="main">Sign in</button>
    </form>
  <//>`;
}
