import type { AgentInterface } from '@rushhour/protocol';
import { linkOf } from './interfaces.ts';
import { readText } from './proc.ts';

type Link = AgentInterface['link'];

const linksNow = (): Map<string, Link> =>
  new Map(
    [...readText('/proc/net/dev').matchAll(/^\s*([^\s:]+):/gm)].map(([, name = '']) => [name, linkOf(name)] as const),
  );

/** Notices links that go down or come up, and interfaces that appear or vanish. */
export class LinkWatch {
  #links = linksNow();

  /** What has changed since the last call; an interface that vanished counts as down. */
  take(): { readonly name: string; readonly link: Link }[] {
    const links = linksNow();
    const names = new Set([...this.#links.keys(), ...links.keys()]);
    const changes = [...names].flatMap((name) => {
      const link = links.get(name) ?? 'down';
      return link === (this.#links.get(name) ?? 'down') && links.has(name) === this.#links.has(name)
        ? []
        : [{ name, link }];
    });
    this.#links = links;
    return changes;
  }
}
