import { setTimeout as sleep } from 'node:timers/promises';
import { type AccessClient, type Memory, sessionState } from '@rushhour/wire';

const pollMs = 20;
/** Time for a session to come up after it has been started. */
const setupMs = 20_000;
/** Traffic waits this long for its sessions; the preparation of a run ends soon after. */
const maxSettleMs = 100_000;

/** The sessions of one interface. */
export interface SessionLink {
  /** Number of its first session. */
  readonly first: number;
  readonly client: AccessClient;
  /** The checksums of the frame at hand need no verification. */
  readonly isChecked: boolean;
  poll(): void;
  flush(): void;
}

/** Hosts whose packets go through sessions: host i has the i-th of its sessions. */
export interface SessionUser {
  onPacket(host: number, memory: Memory, start: number, end: number, isChecked: boolean): void;
  onDown(host: number): void;
  onIdle(): void;
  onRoom(): void;
}

/** The sessions of an entry of the access plane, on all its interfaces, for the traffic that goes through them. */
export class SessionGroup {
  readonly id: number;
  readonly count: number;
  readonly #links: readonly SessionLink[];
  readonly #settleMs: number;
  readonly #users = new Set<SessionUser>();
  readonly #userOf: (SessionUser | undefined)[];
  readonly #hostOf: Int32Array;

  constructor(
    id: number,
    links: readonly SessionLink[],
    load: { readonly startPerSec: number; readonly startDelaySec: number },
  ) {
    this.id = id;
    this.#links = links;
    this.count = links.reduce((sum, { client }) => sum + client.lines.count, 0);
    this.#settleMs = Math.min((load.startDelaySec + this.count / load.startPerSec) * 1000 + setupMs, maxSettleMs);
    this.#userOf = new Array(this.count);
    this.#hostOf = new Int32Array(this.count);
    for (const link of links)
      link.client.onPacket = (session, memory, start, end) => {
        const number = link.first + session;
        this.#userOf[number]?.onPacket(this.#hostOf[number] as number, memory, start, end, link.isChecked);
      };
  }

  get isUsed(): boolean {
    return this.#users.size > 0;
  }

  linkOf(session: number): SessionLink {
    return this.#links.findLast(({ first }) => first <= session) as SessionLink;
  }

  /** Largest IP packet that every session carries. */
  get mtu(): number {
    return Math.min(...this.#links.map(({ client }) => client.protocol?.mtu ?? Number.POSITIVE_INFINITY));
  }

  isUp(session: number): boolean {
    const { client, first } = this.linkOf(session);
    return client.isUp(session - first);
  }

  /** Writes the address of a session of a version; false if it has none. */
  writeAddress(session: number, version: 4 | 6, words: Int32Array): boolean {
    const { client, first } = this.linkOf(session);
    return client.writeAddress(session - first, version, words);
  }

  /** Gives the packets of sessions to their user until the returned function is called. */
  attach(sessions: Int32Array, user: SessionUser): () => void {
    this.#users.add(user);
    for (const [host, session] of sessions.entries()) {
      this.#userOf[session] = user;
      this.#hostOf[session] = host;
    }
    return () => {
      this.#users.delete(user);
      for (const session of sessions) this.#userOf[session] = undefined;
    };
  }

  onDown(session: number): void {
    this.#userOf[session]?.onDown(this.#hostOf[session] as number);
  }

  /** The frames that had arrived are handled. */
  onIdle(): void {
    for (const user of this.#users) user.onIdle();
  }

  /** Frames can be sent again. */
  onRoom(): void {
    for (const user of this.#users) user.onRoom();
  }

  poll(): void {
    for (const link of this.#links) link.poll();
  }

  flush(): void {
    for (const link of this.#links) link.flush();
  }

  /** Waits until every session is up or has ended for good, for as long as their pace needs. Returns how many are up. */
  async settle(signal: AbortSignal): Promise<number> {
    const deadline = performance.now() + this.#settleMs;
    const isSettled = () => this.#inState(sessionState.up) + this.#inState(sessionState.ended) === this.count;
    while (!isSettled() && !signal.aborted && performance.now() < deadline) await sleep(pollMs);
    return this.#inState(sessionState.up);
  }

  /** Why sessions are not up: causes with their number, most frequent first. */
  get causes(): string {
    const counts = new Map<string, number>();
    for (const { client } of this.#links)
      for (let session = 0; session < client.lines.count; session++) {
        if (client.isUp(session)) continue;
        const { cause, step } = client.subscribers.table.viewOf(session);
        const reason = cause !== 'none' ? cause : step === 'none' ? 'not started' : `waits for ${step}`;
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    const sorted = [...counts].sort(([, a], [, b]) => b - a);
    return sorted.map(([reason, count]) => `${reason} (${count})`).join(', ');
  }

  #inState(state: number): number {
    return this.#links.reduce((sum, { client }) => sum + (client.subscribers.table.counts[state] as number), 0);
  }
}
