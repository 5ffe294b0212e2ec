/** The console: the frame of every page, and the view that its address names. */
import { render } from 'preact';
import { awayReason, connection } from './data/client.ts';
import { hrefOf, type Place } from './data/location.ts';
import { navigate, startRouter, usePlace } from './data/router.ts';
import { readSession, session, signOut } from './data/session.ts';
import { useStore } from './data/store.ts';
import { html, text, type VNode } from './parts/html.ts';
import { View } from './parts/view.ts';
import { Address } from './views/address.ts';
import { Alarms } from './views/alarms.ts';
import { EventView } from './views/event.ts';
import { Events } from './views/events.ts';
import { Pod } from './views/pod.ts';
import { Search } from './views/search.ts';
import { SignIn } from './views/sign-in.ts';
import { Subnet } from './views/subnet.ts';
import { Subnets } from './views/subnets.ts';

/** The view of a place, with a key that changes with its subject. */
function viewOf({ path }: Place): VNode {
  const [section = 'subnets', first, second] = path;
  const key = path.join('/');
  if (section === 'subnets' && path.length <= 1) return html`<${Subnets} key=${key} />`;
  if (section === 'subnets' && path.length === 2) return html`<${Subnet} key=${key} name=${first} />`;
  if (section === 'subnets' && path.length === 3)
    return html`<${Address} key=${key} subnet=${first} address=${second} />`;
  if (section === 'pods' && path.length === 3) return html`<${Pod} key=${key} namespace=${first} name=${second} />`;
  if (section === 'events' && path.length === 1) return html`<${Events} key=${key} />`;
  if (section === 'events' && path.length === 2) return html`<${EventView} key=${key} seq=${first} />`;
  if (section === 'alarms' && path.length === 1) return html`<${Alarms} key=${key} />`;
  if (section === 'search' && path.length === 1) return html`<${Search} key=${key} />`;
  return html`<${View} title="Not found"><p class="panel">The console has no page at this address.</p><//>`;
}

const sections = [
  { section: 'subnets', name: 'Subnets' },
  { section: 'events', name: 'What happened' },
  { section: 'alarms', name: 'Conflicts and alarms' },
];

function Console(): VNode {
  const place = usePlace();
  const state = useStore(connection);
  const person = useStore(session);
  return html`<a class="skip" href="#main">Skip to the content</a>
    <${Top} place=${place} />
    <${Away} isAway=${state === 'away'} />
    <main id="main" tabindex="-1">
      ${state === 'signed out' ? html`<${SignIn} />` : person ? viewOf(place) : html`<p class="quiet">Loading …</p>`}
    </main>`;
}

function Top({ place: { path, query } }: { readonly place: Place }): VNode {
  const person = useStore(session);
  const state = useStore(connection);
  const isSignedIn = state !== 'signed out' && person !== undefined && person.user !== '';
  const search = (event: Event): void => {
    event.preventDefault();
    const q = new FormData(event.target as HTMLFormElement).get('q');
    if (typeof q === 'string' && q.trim() !== '') navigate(hrefOf(['search'], { q: q.trim() }));
  };
  return html`<header class="top">
    <a class="name" href="/">ipledger</a>
    <nav aria-label="Views">
      ${sections.map(
        ({ section, name }) =>
          html`<a
            key=${section}
            href=${hrefOf([section])}
            aria-current=${(path[0] ?? 'subnets') === section ? 'page' : undefined}
            >${name}</a
          >`,
      )}
    </nav>
    ${
      state !== 'signed out' &&
      html`<form role="search" onSubmit=${search}>
        <input
          type="search"
          name="q"
          aria-label="Search"
          placeholder="Address, MAC, Pod, node, owner, container"
          defaultValue=${path[0] === 'search' ? query['q'] : ''}
          key=${path[0] === 'search' ? query['q'] : ''}
        />
      </form>`
    }
    ${
      isSignedIn
        ? html`<span class="person" title=${person.user}>${text(person.user)}</span>
            <button onClick=${() => void signOut()}>Sign out</button>`
        : person?.mode === 'open' && html`<span class="person">read-only</span>`
    }
  </header>`;
}

/**
 * The notice while the server, the allocator or the read model does not answer. The page keeps its
 * data.
 */
function Away({ isAway }: { readonly isAway: boolean }): VNode {
  const reason = useStore(awayReason);
  return html`<div role="status">
    ${isAway && html`<p class="banner">${text(reason.replace(/\.?$/, '.'))} It is tried again.</p>`}
  </div>`;
}

/** Reads the session until the server answers. */
function startSession(): void {
  readSession().catch(() => setTimeout(startSession, 2_000));
}

const root = document.getElementById('app');
if (root) {
  startRouter();
  startSession();
  root.replaceChildren();
  render(html`<${Console} />`, root);
}
